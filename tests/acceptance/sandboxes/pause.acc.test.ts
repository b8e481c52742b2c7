import { randomUUID } from 'node:crypto'
import type { Sandbox, SandboxListOpts } from 'e2b'
import { describe, expect, test } from 'vitest'
import { countLines, startCounter } from '../support/counter.ts'
import { startServer } from '../support/sandbox-server.ts'
import { e2b245, e2b251, type Sdk } from '../support/sdks.ts'
import { hostForm, throughProxy } from '../support/through-proxy.ts'

const operations = [
  '[POST /sandboxes/{sandboxID}/pause] [GET /v2/sandboxes] [GET /sandboxes/{sandboxID}] [PUT /sandboxes/{sandboxID}/network]',
  '[POST /sandboxes/{sandboxID}/timeout] [DELETE /sandboxes/{sandboxID}] [proxy host form]',
].join(' ')

const port = 8000

describe.each<[string, Sdk, string]>([
  ['e2b 2.51.0', e2b251, '[POST /v2/sandboxes] [POST /v2/sandboxes/{sandboxID}/connect]'],
  ['e2b 2.45.0', e2b245, '[POST /sandboxes] [POST /sandboxes/{sandboxID}/connect]'],
])('%s', (_, { Sandbox: Client, SandboxNotFoundError }, routes) => {
  async function listIds(query: NonNullable<SandboxListOpts['query']>): Promise<string[]> {
    const pages = Client.list({ query, limit: 1 })
    const ids: string[] = []
    while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId))
    return ids
  }

  test(`${routes} ${operations} a sandbox with every option of its life is paused, woken by traffic, connected to and killed`, async () => {
    const metadata = { run: randomUUID() }
    const sandbox = await Client.create({
      metadata,
      envs: { GREETING: 'hej' },
      secure: true,
      timeoutMs: 200_000,
      lifecycle: { onTimeout: 'pause', autoResume: true },
      network: { allowPublicTraffic: false, maskRequestHost: 'masked.test:${PORT}' },
    })
    const id = sandbox.sandboxId
    try {
      const created = await sandbox.getInfo()
      expect(created).toMatchObject({
        sandboxId: id,
        templateId: expect.stringMatching(/^[a-z0-9]{20}$/),
        name: 'base',
        metadata,
        state: 'running',
        envdVersion: '0.6.13',
        lifecycle: { onTimeout: 'pause', autoResume: true },
        network: { allowPublicTraffic: false, maskRequestHost: 'masked.test:${PORT}' },
      })
      expect(created.endAt.getTime() - created.startedAt.getTime()).toBeGreaterThanOrEqual(200_000)
      expect(created.cpuCount).toBeGreaterThanOrEqual(1)
      expect(created.memoryMB).toBeGreaterThanOrEqual(128)
      await sandbox.updateNetwork({})
      expect((await sandbox.getInfo()).network).toEqual(created.network)

      const counter = await startCounter(sandbox)
      await startServer(sandbox, port)
      await expectPage(sandbox)

      const beforePause = await countLines(sandbox)
      expect(await sandbox.pause()).toBe(true)
      expect(await Client.pause(id)).toBe(false)
      expect(await sandbox.isRunning()).toBe(false)
      expect(await sandbox.getInfo()).toMatchObject({ state: 'paused', metadata, lifecycle: created.lifecycle, network: created.network })
      expect(await listIds({ metadata, state: ['paused'] })).toEqual([id])
      expect(await listIds({ metadata, state: ['running'] })).toEqual([])
      expect(await listIds({ metadata })).toEqual([id])
      await expect(sandbox.setTimeout(60_000)).rejects.toThrow(SandboxNotFoundError)

      // A request without the traffic token wakes nothing; the first one with it is answered.
      expect(await throughProxy(hostForm(sandbox, port), { path: '/' })).toMatchObject({ status: 403 })
      expect(await sandbox.getInfo()).toMatchObject({ state: 'paused' })
      await expectPage(sandbox)
      const woken = await sandbox.getInfo()
      expect(woken).toMatchObject({ state: 'running', metadata })
      expect(woken.startedAt.getTime()).toBeGreaterThan(created.startedAt.getTime())
      expect(woken.endAt.getTime() - woken.startedAt.getTime()).toBe(300_000)
      await counter.continuesAfter(beforePause)

      expect(await sandbox.pause()).toBe(true)
      const beforeConnect = Date.now()
      const again = await Client.connect(id, { timeoutMs: 900_000 })
      expect(again.sandboxId).toBe(id)
      expect((await again.getInfo()).endAt.getTime()).toBeGreaterThanOrEqual(beforeConnect + 900_000)
      expect(await listIds({ metadata, state: ['running'] })).toEqual([id])
      await counter.continuesAfter(beforePause)
      expect((await again.commands.run('echo $GREETING')).stdout).toBe('hej\n')
      await expectPage(again)

      await again.setTimeout(60_000)
      const shortened = await again.getInfo()
      expect(shortened.endAt.getTime()).toBeLessThan(beforeConnect + 900_000)

      expect(await again.pause()).toBe(true)
    } finally {
      expect(await sandbox.kill()).toBe(true)
    }
    expect(await Client.kill(id)).toBe(false)
    await expect(Client.getInfo(id)).rejects.toThrow(SandboxNotFoundError)
    await expect(Client.connect(id)).rejects.toThrow(SandboxNotFoundError)
    await expect(Client.pause(id)).rejects.toThrow(SandboxNotFoundError)
    expect(await listIds({ metadata })).toEqual([])
  })

  test(`${routes} [POST /sandboxes/{sandboxID}/timeout] at its timeout a sandbox is paused; traffic and a connect continue it`, async () => {
    const sandbox = await Client.create({ lifecycle: { onTimeout: 'pause', autoResume: true } })
    try {
      const counter = await startCounter(sandbox)
      await startServer(sandbox, port)
      const before = await countLines(sandbox)

      await pausesAtTimeout(sandbox)
      const answers = await Promise.all(Array.from({ length: 5 }, () => throughProxy(hostForm(sandbox, port), { path: '/' })))
      expect(answers.map(({ status }) => status)).toEqual([418, 418, 418, 418, 418])
      await counter.continuesAfter(before)

      await pausesAtTimeout(sandbox)
      const connects = await Promise.all(Array.from({ length: 3 }, () => Client.connect(sandbox.sandboxId)))
      expect(connects.map(({ sandboxId }) => sandboxId)).toEqual(Array.from({ length: 3 }, () => sandbox.sandboxId))
      await counter.continuesAfter(before)
      expect((await throughProxy(hostForm(sandbox, port), { path: '/' })).status).toBe(418)
    } finally {
      await sandbox.kill()
    }
  })
})

test('[POST /v2/sandboxes] without auto-resume, traffic to a paused sandbox gets the answer of an unknown one', async () => {
  const sandbox = await e2b251.Sandbox.create({ lifecycle: { onTimeout: 'pause' } })
  try {
    await pausesAtTimeout(sandbox)
    const answer = await throughProxy(hostForm(sandbox, port), { path: '/' })
    expect(answer.status).toBe(502)
    expect(JSON.parse(answer.text)).toEqual({ sandboxId: sandbox.sandboxId, message: 'The sandbox was not found', code: 502 })
    expect(await sandbox.getInfo()).toMatchObject({ state: 'paused', lifecycle: { onTimeout: 'pause', autoResume: false } })
  } finally {
    await sandbox.kill()
  }
})

/** The server in the sandbox answers; it sees the masked host, and the token of the client. */
async function expectPage(sandbox: Sandbox): Promise<void> {
  const token = sandbox.trafficAccessToken ?? ''
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  const answer = await throughProxy(hostForm(sandbox, port), { path: '/', headers: { 'e2b-traffic-access-token': token } })
  expect(answer.status).toBe(418)
  const { headers } = JSON.parse(answer.text) as { headers: [string, string][] }
  expect(Object.fromEntries(headers)).toMatchObject({ host: `masked.test:${port}`, 'x-forwarded-host': sandbox.getHost(port) })
}

async function pausesAtTimeout(sandbox: Sandbox): Promise<void> {
  await sandbox.setTimeout(1000)
  await expect.poll(async () => (await sandbox.getInfo()).state, { timeout: 30_000, interval: 100 }).toBe('paused')
}
