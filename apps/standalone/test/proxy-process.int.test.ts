import { mkdtempSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { commandLine } from '../src/process/process-identity.ts'
import { ProxySupervisor, type SupervisorOptions } from '../src/proxy/proxy-supervisor.ts'

const SECRET = 'a-password'

function options(more: Partial<SupervisorOptions> = {}): SupervisorOptions {
  return {
    // No database answers at this address; the proxy listens without one.
    environment: {
      DATABASE_URL: `postgres://x:${SECRET}@127.0.0.1:1/none`,
      SANDYARD_PROXY_PORT: '0',
      HOME: mkdtempSync(join(tmpdir(), 'proxy-')),
    },
    heapMib: 200,
    onLog: () => undefined,
    log: silentLogger(),
    registry: new Registry(),
    graceMs: 10_000,
    ...more,
  }
}

async function isServing(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok
  } catch {
    return false
  }
}

/** Waits until a process other than `former` serves the port. */
async function replaced(proxy: ProxySupervisor, former: number | undefined): Promise<number> {
  return pollUntil({ what: 'another proxy', timeoutMs: 60_000, everyMs: 20 }, async () =>
    proxy.pid !== former && (await isServing(proxy.port)) ? proxy.pid : undefined,
  )
}

it('has its own heap limit and no secret on its command line', async () => {
  await using proxy = await ProxySupervisor.start(options())
  const line = commandLine(proxy.pid ?? 0)
  expect(line).toContain('--max-old-space-size=200')
  expect(line.join(' ')).not.toContain(SECRET)
  expect(await isServing(proxy.port)).toBe(true)
})

it('listens on its port again after each kill, and the metrics count the restarts', async () => {
  const registry = new Registry()
  await using proxy = await ProxySupervisor.start(options({ registry }))
  for (const restarts of [1, 2]) {
    const former = proxy.pid ?? 0
    process.kill(former, 'SIGKILL')
    await replaced(proxy, former)
    expect(await proxy.metrics()).toMatch(/^sandyard_proxy_process_resident_memory_bytes \d+$/m)
    const own = await registry.metrics()
    expect(own).toContain(`sandyard_proxy_restarts_total ${restarts}`)
    expect(own).toContain('sandyard_proxy_up 1')
  }
})

it('replaces a stopped proxy that does not answer, and the metrics page meets its deadline meanwhile', async () => {
  const registry = new Registry()
  await using proxy = await ProxySupervisor.start(options({ registry, silenceMs: 4000 }))
  const former = proxy.pid ?? 0
  process.kill(former, 'SIGSTOP')
  expect(await proxy.metrics()).toBe('')
  expect(await registry.metrics()).toContain('sandyard_proxy_up 0')
  await replaced(proxy, former)
})

it('reports a taken address, and retries when a later start fails', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  const environment = { ...options().environment, SANDYARD_PROXY_PORT: String(port) }
  await expect(ProxySupervisor.start(options({ environment }))).rejects.toMatchObject({ code: 'EADDRINUSE' })
  taken.close()

  await using proxy = await ProxySupervisor.start(options({ environment }))
  expect(proxy.port).toBe(port)
})

it('ends within its grace period even when it does not react', async () => {
  const proxy = await ProxySupervisor.start(options({ graceMs: 100 }))
  const pid = proxy.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  await proxy[Symbol.asyncDispose]()
  expect(commandLine(pid)).toEqual([])
})
