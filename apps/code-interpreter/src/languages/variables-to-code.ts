/** Variables to set, and with undefined those to remove. */
export type VariableChanges = Readonly<Record<string, string | undefined>>

/** Code that makes the changes in a kernel, defines no name that cells see, and prints nothing. */
export type VariablesToCode = (changes: VariableChanges) => string

const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** For languages whose variables must have names of a shell: the changes without the others. */
export function withShellNames(changes: VariableChanges): [name: string, value: string | undefined][] {
  return Object.entries(changes).filter(([name]) => SHELL_NAME.test(name))
}

/** A string literal of ASCII characters, which JavaScript and Python read alike. */
export function asciiLiteral(text: string): string {
  return toAscii(JSON.stringify(text))
}

/** JSON with its other characters as escapes. */
export function toAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
