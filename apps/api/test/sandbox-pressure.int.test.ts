import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { untilStuck } from '../src/builds/engine/sandbox-pressure.ts'

it('reports a daemon that accepts connections and never answers as silent', async () => {
  const asked: string[] = []
  const server = createServer((request) => asked.push(request.url ?? '')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const daemon = { endpoint: { host: '127.0.0.1', daemonPort: (server.address() as AddressInfo).port }, accessToken: 'x' }
    const patience = { lookEveryMs: 1, lookTimeoutMs: 20, looksAtLimit: 4, looksInVain: 3 }
    const begun = { outOfMemory: 0, outOfProcesses: 0 }
    expect(await untilStuck(daemon, { begun, signal: AbortSignal.timeout(20_000), patience })).toBe('silent')
    expect(asked.length).toBeGreaterThan(0)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
