import type { MatrixClient } from '../client.ts'

export const mastra: MatrixClient = {
  name: '@mastra/e2b',
  registry: 'npm',
  package: '@mastra/e2b',
  older: ['0.5.1', '0.3.5'],
  beside: ['@mastra/core'],
  flows: [{ name: 'its template built, command, process, stop and start again', file: 'mastra.mjs', timeoutMs: 400_000 }],
}
