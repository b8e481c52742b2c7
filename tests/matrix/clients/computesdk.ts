import type { MatrixClient } from '../client.ts'

/** The registry had this release only on 2026-11-28. */
export const computesdk: MatrixClient = {
  name: '@computesdk/e2b',
  registry: 'npm',
  package: '@computesdk/e2b',
  older: [],
  flows: [{ name: 'sandbox, command, files, list, destroy', file: 'computesdk.mjs', timeoutMs: 120_000 }],
}
