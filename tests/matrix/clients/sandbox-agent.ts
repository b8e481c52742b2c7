import type { MatrixClient } from '../client.ts'

/** The registry had these two releases on 2026-11-28. Its `create` downloads an agent server from a host that is not a package registry; the flow runs what its provider does with a sandbox that exists. */
export const sandboxAgent: MatrixClient = {
  name: 'sandbox-agent',
  registry: 'npm',
  package: 'sandbox-agent',
  older: ['0.4.0'],
  beside: ['@e2b/code-interpreter'],
  flows: [
    { name: 'provider: address, destroy', file: 'sandbox-agent-destroy.mjs', timeoutMs: 120_000 },
    { name: 'provider: reconnect, address, pause, kill', file: 'sandbox-agent.mjs', since: '0.4.2', timeoutMs: 120_000 },
  ],
}
