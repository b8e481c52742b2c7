import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { callApi } from '../support/api.ts'
import { e2b } from '../support/cli.ts'
import { e2b245, e2b251, type Sdk } from '../support/sdks.ts'
import { fromEnvironment } from '../support/server.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const WAIT = { timeout: 60_000, interval: 250 }

let directory: string
beforeAll(async () => (directory = await mkdtemp(join(tmpdir(), 'sandyard-metrics-'))))
afterAll(() => rm(directory, { recursive: true, force: true }))

describe('[GET /sandboxes/{sandboxID}/metrics] the metrics of a sandbox', () => {
  test.each<[string, Sdk]>([
    ['e2b 2.51.0', e2b251],
    ['e2b 2.45.0', e2b245],
  ])('are returned by %s, with its limits and a growing use of memory', async (_, { Sandbox }) => {
    const sandbox = await Sandbox.create()
    try {
      const first = await vi.waitUntil(async () => (await sandbox.getMetrics())[0], WAIT)
      expect(first.timestamp.getTime()).toBeGreaterThan(Date.now() - 120_000)
      expect(first.cpuCount).toBeGreaterThanOrEqual(1)
      expect(first.memTotal).toBeGreaterThanOrEqual(128 * 1024 ** 2)
      expect(first.memUsed).toBeGreaterThan(0)
      expect(first.memUsed).toBeLessThan(first.memTotal)
      expect(first.diskUsed).toBeGreaterThan(0)
      expect(first.diskTotal).toBeGreaterThan(first.diskUsed)

      const size = 64 * 1024 ** 2
      await sandbox.commands.run(`python3 -c "import time; kept = b'x' * ${size}; time.sleep(300)"`, { background: true })
      const last = await vi.waitUntil(async () => {
        const newest = (await sandbox.getMetrics()).at(-1)
        return newest !== undefined && newest.memUsed > first.memUsed + size / 2 ? newest : undefined
      }, WAIT)
      expect(last.timestamp.getTime()).toBeGreaterThan(first.timestamp.getTime())

      const since = await sandbox.getMetrics({ start: last.timestamp })
      expect(since[0]?.timestamp).toEqual(last.timestamp)
    } finally {
      await sandbox.kill()
    }
    expect((await Sandbox.getMetrics(sandbox.sandboxId)).length).toBeGreaterThanOrEqual(1)
  })

  test('[GET /sandboxes/metrics] are returned for several sandboxes, and printed by the CLI', async () => {
    await withSandbox(async ({ sandboxId }) => {
      const answer = await vi.waitUntil(async () => {
        const { body } = await callApi(`GET /sandboxes/metrics?sandbox_ids=${sandboxId},iunknown`)
        return Object.keys(body['sandboxes'] as object).length > 0 ? body['sandboxes'] : undefined
      }, WAIT)
      expect(Object.keys(answer as object)).toEqual([sandboxId])
      const printed = await e2b(directory, 'sandbox', 'metrics', sandboxId)
      expect(printed).toMatch(/CPU/)
    })
  })
})

describe('[GET /sandboxes/{sandboxID}/logs] [GET /v2/sandboxes/{sandboxID}/logs] the log of a sandbox', () => {
  test('has its start, its processes and its end, and no output', async () => {
    const { id, printed } = await withSandbox(async (sandbox) => {
      await sandbox.commands.run('echo the-output $SECRET', { envs: { SECRET: 'the-secret' } })
      await vi.waitUntil(async () => (await messagesOf(sandbox.sandboxId)).includes('Process ended'), WAIT)
      return { id: sandbox.sandboxId, printed: await e2b(directory, 'sandbox', 'logs', sandbox.sandboxId) }
    })
    expect(printed).toContain('Sandbox started')
    expect(printed).toContain('Process started')
    const { text } = await callApi(`GET /v2/sandboxes/${id}/logs?direction=forward`)
    expect(text).toContain('echo the-output $SECRET')
    expect(text).not.toContain('the-secret')
    const messages = await messagesOf(id)
    expect(messages.slice(0, 2)).toEqual(['Sandbox is starting', 'Sandbox started'])
    expect(messages).toContain('Sandbox is ending')
  })
})

test('[GET /teams/{teamID}/metrics] [GET /teams] a user gets the teams and keys, and a team its metrics', async () => {
  const teams = await callApi('GET /teams', { key: false, headers: { authorization: `Bearer ${fromEnvironment('E2B_ACCESS_TOKEN')}` } })
  expect(teams.status).toBe(200)
  const [{ teamID, apiKey } = { teamID: '', apiKey: '' }] = JSON.parse(teams.text) as { teamID: string; apiKey: string }[]
  const headers = { 'x-api-key': apiKey }
  await withSandbox(async () => {
    await vi.waitUntil(async () => {
      const { body } = await callApi(`GET /teams/${teamID}/metrics/max?metric=concurrent_sandboxes`, { key: false, headers })
      return Number(body['value']) >= 1
    }, WAIT)
    const { text } = await callApi(`GET /teams/${teamID}/metrics`, { key: false, headers })
    expect((JSON.parse(text) as unknown[]).length).toBeGreaterThanOrEqual(1)
  })
})

async function messagesOf(id: string): Promise<string[]> {
  const { body } = await callApi(`GET /v2/sandboxes/${id}/logs?direction=forward`)
  return (body['logs'] as { message: string }[]).map(({ message }) => message)
}
