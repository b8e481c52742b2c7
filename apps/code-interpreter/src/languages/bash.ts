import { type VariableChanges, withShellNames } from './variables-to-code.ts'

export function bashVariables(changes: VariableChanges): string {
  return withShellNames(changes)
    .map(([name, value]) => (value === undefined ? `unset ${name}` : `export ${name}='${value.replaceAll("'", `'\\''`)}'`))
    .join('\n')
}
