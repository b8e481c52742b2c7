import { toAscii, type VariableChanges } from './variables-to-code.ts'

/** The kernel is ours (`code_interpreter_java.py`): it takes variables from this line of a silent cell. */
export function javaVariables(changes: VariableChanges): string {
  const values = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? null]))
  return `%variables ${toAscii(JSON.stringify(values))}`
}
