import type { MatrixClient } from '../client.ts'

/** Before 2.14.1 the client sends no header that names the sandbox with requests for files (docs/decisions/007-signed-urls.md). */
export const e2bJavaScript: MatrixClient = {
  name: 'e2b (JavaScript)',
  registry: 'npm',
  package: 'e2b',
  older: ['2.45.0', '2.13.1'],
  flows: [
    { name: 'sandbox, commands, files, terminal', file: 'sdk.mjs', timeoutMs: 120_000 },
    { name: 'template build, pause, snapshot, volume', file: 'sdk-newer.mjs', since: '2.45.0', timeoutMs: 240_000 },
  ],
}

/** Before 2.26.0 a sandbox object from `connect` sends no header that names the sandbox (docs/decisions/007-signed-urls.md). */
export const e2bPython: MatrixClient = {
  name: 'e2b (Python)',
  registry: 'pypi',
  package: 'e2b',
  older: ['2.45.1', '2.23.0'],
  flows: [
    { name: 'sandbox, commands, files, terminal', file: 'sdk.py', timeoutMs: 120_000 },
    { name: 'asynchronous client', file: 'sdk_async.py', timeoutMs: 120_000 },
  ],
}
