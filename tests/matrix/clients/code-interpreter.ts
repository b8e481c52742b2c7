import type { Flow, MatrixClient } from '../client.ts'

const template = 'code-interpreter-v1'
const shared: Omit<Flow, 'file'> = { name: 'code, results, charts, contexts', template, timeoutMs: 180_000 }

/** Before 2.7.0 the client always calls `https://49999-<sandbox>.<domain>`. */
export const codeInterpreterJavaScript: MatrixClient = {
  name: '@e2b/code-interpreter (JavaScript)',
  registry: 'npm',
  package: '@e2b/code-interpreter',
  older: ['2.7.2', '2.7.0'],
  flows: [{ ...shared, file: 'code-interpreter.mjs' }],
}

/** Before 2.9.0 the client always calls `https://49999-<sandbox>.<domain>`. */
export const codeInterpreterPython: MatrixClient = {
  name: 'e2b-code-interpreter (Python)',
  registry: 'pypi',
  package: 'e2b-code-interpreter',
  older: ['2.10.5', '2.9.0'],
  flows: [{ ...shared, file: 'code_interpreter.py' }],
}
