const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Double-quoted as Go's `%q` does it, which the texts of control-plane.md are written with. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\\n\r\t]|\p{Cc}/gu, (char) => ESCAPES[char] ?? `\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`)}"`
}
