import { type VariableChanges, withShellNames } from './variables-to-code.ts'

export function rVariables(changes: VariableChanges): string {
  return withShellNames(changes)
    .map(([name, value]) => (value === undefined ? `Sys.unsetenv("${name}")` : `Sys.setenv(${name} = ${literal(value)})`))
    .map((call) => `invisible(${call})`)
    .join('\n')
}

/** R reads no pairs of surrogates, so characters beyond ASCII stay as they are. */
function literal(text: string): string {
  return JSON.stringify(text)
}
