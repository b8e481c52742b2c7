const SHORT: Readonly<Record<string, string>> = {
  '\u0007': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
  '"': String.raw`\"`,
  '\\': String.raw`\\`,
}

/** A text in double quotes as in upstream's messages: unprintable characters are escaped, and so are bytes that are not UTF-8, by their number. */
export function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what has to be escaped
  const escaped = text.replaceAll(/["\\\0-\x1f\x7f]|[\udc80-\udcff]/gu, (character) => {
    const hex = (character.charCodeAt(0) & 0xff).toString(16).padStart(2, '0')
    return SHORT[character] ?? String.raw`\x${hex}`
  })
  return `"${escaped}"`
}
