import { toAscii, type VariableChanges } from './variables-to-code.ts'

/** The kernels of Bash and Java are ours (`code_interpreter_bash.py`, `code_interpreter_java.py`): they take variables from this line of a silent cell. */
export function variablesLine(changes: VariableChanges): string {
  const values = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? null]))
  return `%variables ${toAscii(JSON.stringify(values))}`
}
