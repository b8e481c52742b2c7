/** The text behind `start` without spaces and tabs around it. Other blanks are bytes of a value. */
export function trimBlanks(text: string, start: number): string {
  let from = start
  let end = text.length
  while (from < end && isBlank(text.charCodeAt(from))) from += 1
  while (end > from && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(from, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
