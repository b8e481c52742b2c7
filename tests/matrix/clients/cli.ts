import type { MatrixClient } from '../client.ts'

export const cli: MatrixClient = {
  name: '@e2b/cli',
  registry: 'npm',
  package: '@e2b/cli',
  older: ['2.16.0', '2.10.3'],
  flows: [{ name: 'list, info, exec, kill', file: 'cli.mjs', timeoutMs: 120_000 }],
}
