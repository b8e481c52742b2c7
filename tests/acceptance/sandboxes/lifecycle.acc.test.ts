import { NotFoundError, Sandbox, SandboxError, SandboxNotFoundError, TimeoutError } from 'e2b'
import { describe, expect, test } from 'vitest'
import { callApi, unknownSandboxId } from '../support/api.ts'
import { containersWith } from '../support/engine.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const patience = { timeout: 30_000, interval: 100 }

async function isListed(sandbox: Sandbox): Promise<boolean> {
  const pages = Sandbox.list()
  while (pages.hasNext) if ((await pages.nextItems()).some(({ sandboxId }) => sandboxId === sandbox.sandboxId)) return true
  return false
}

async function expectGone(sandbox: Sandbox): Promise<void> {
  await expect.poll(() => sandbox.isRunning(), patience).toBe(false)
  await expect.poll(() => containersWith(`sandyard.sandbox-id=${sandbox.sandboxId}`), patience).toEqual([])
  expect(await isListed(sandbox)).toBe(false)
  await expect(sandbox.getInfo()).rejects.toThrow(SandboxNotFoundError)
}

async function endAt(sandbox: Sandbox): Promise<number> {
  return (await sandbox.getInfo()).endAt.getTime()
}

describe('[DELETE /sandboxes/{sandboxID}]', () => {
  test('removes a sandbox and its container; a second kill returns 404', async () => {
    await withSandbox(async (sandbox) => {
      expect(await containersWith(`sandyard.sandbox-id=${sandbox.sandboxId}`)).not.toEqual([])
      expect(await sandbox.kill()).toBe(true)
      await expectGone(sandbox)
      expect(await sandbox.kill()).toBe(false)
      expect(await Sandbox.kill(unknownSandboxId)).toBe(false)
    })
  })

  test('aborts a running command, which the SDK reports as the end of the sandbox', async () => {
    await withSandbox(async (sandbox) => {
      const handle = await sandbox.commands.run('exec sleep 600', { background: true })
      await sandbox.kill()
      const end = await handle.wait().catch((error: unknown) => error)
      expect(end).toBeInstanceOf(TimeoutError)
      expect(String(end)).toContain('sandbox was killed or reached its end of life')
      await expect(sandbox.commands.run('true')).rejects.toThrow(NotFoundError)
      await expect(sandbox.files.read('/etc/hostname')).rejects.toThrow(TimeoutError)
    })
  })

  test('joins concurrent kills', async () => {
    await withSandbox(async (sandbox) => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => callApi(`DELETE /sandboxes/${sandbox.sandboxId}`)))
      const statuses = answers.map(({ status }) => status)
      expect(statuses).toContain(204)
      expect(statuses.filter((status) => status !== 204 && status !== 404)).toEqual([])
      await expectGone(sandbox)
    })
  })
})

describe('[POST /v2/sandboxes]', () => {
  test('a sandbox past its end time is removed: API, proxy and container', async () => {
    await withSandbox(expectGone, { timeoutMs: 1500 })
  })

  test('the default lifetime of a sandbox is 300 seconds', async () => {
    await withSandbox(async (sandbox) => {
      const { startedAt, endAt } = await sandbox.getInfo()
      const seconds = (endAt.getTime() - startedAt.getTime()) / 1000
      expect(seconds).toBeGreaterThanOrEqual(300)
      expect(seconds).toBeLessThan(360)
    })
  })

  test('concurrent creates return different sandboxes', async () => {
    const sandboxes = await Promise.all(Array.from({ length: 4 }, () => Sandbox.create()))
    try {
      await Promise.all(sandboxes.map((sandbox) => sandbox.files.write('id', sandbox.sandboxId)))
      const ids = await Promise.all(sandboxes.map(async ({ commands }) => (await commands.run('cat id; ls | wc -l')).stdout))
      expect(ids).toEqual(sandboxes.map(({ sandboxId }) => `${sandboxId}1\n`))
    } finally {
      await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
    }
  })

  test('an unknown template is refused', async () => {
    const refusal = await Sandbox.create('no-such-template').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(SandboxError)
    expect(String(refusal)).toContain("404: template 'no-such-template' not found")
  })
})

describe('[POST /sandboxes/{sandboxID}/timeout]', () => {
  test('shortens the lifetime', async () => {
    await withSandbox(async (sandbox) => {
      await sandbox.setTimeout(1000)
      await expectGone(sandbox)
    })
  })

  test('ends a sandbox at once with zero', async () => {
    await withSandbox(async (sandbox) => {
      expect(await callApi(`POST /sandboxes/${sandbox.sandboxId}/timeout`, { body: { timeout: 0 } })).toMatchObject({ status: 204 })
      await expectGone(sandbox)
    })
  })

  test('extends the lifetime, so the sandbox outlives another one with the same timeout', async () => {
    await withSandbox(
      async (kept) => {
        await kept.setTimeout(600_000)
        await withSandbox(expectGone, { timeoutMs: 4000 })
        expect(await kept.isRunning()).toBe(true)
        expect((await kept.commands.run('echo alive')).stdout).toBe('alive\n')
      },
      { timeoutMs: 4000 },
    )
  })
})

describe('[POST /sandboxes/{sandboxID}/refreshes]', () => {
  test('moves the end away, never nearer', async () => {
    await withSandbox(async (sandbox) => {
      const refresh = (body: object) => callApi(`POST /sandboxes/${sandbox.sandboxId}/refreshes`, { body })
      const before = await endAt(sandbox)
      expect(await refresh({ duration: 15 })).toMatchObject({ status: 204, text: '' })
      expect(await endAt(sandbox)).toBe(before)
      expect(await refresh({ duration: 3600 })).toMatchObject({ status: 204 })
      expect(await endAt(sandbox)).toBeGreaterThan(before)
      expect(await refresh({ duration: 3601 })).toMatchObject({ status: 400, body: { code: 400 } })
      expect(await refresh({ duration: -1 })).toMatchObject({ status: 400, body: { code: 400 } })
    })
  })
})

describe('[POST /v2/sandboxes/{sandboxID}/connect]', () => {
  test('moves the end away, never nearer', async () => {
    await withSandbox(async (sandbox) => {
      const before = await endAt(sandbox)
      await sandbox.connect({ timeoutMs: 60_000 })
      expect(await endAt(sandbox)).toBe(before)
      await sandbox.connect({ timeoutMs: 3_600_000 })
      expect(await endAt(sandbox)).toBeGreaterThan(before)
    })
  })

  test('extends the lifetime to 300 seconds by default', async () => {
    await withSandbox(
      async (sandbox) => {
        const { startedAt } = await sandbox.getInfo()
        await Sandbox.connect(sandbox.sandboxId)
        expect((await endAt(sandbox)) - startedAt.getTime()).toBeGreaterThanOrEqual(300_000)
      },
      { timeoutMs: 60_000 },
    )
  })

  test('returns the fields that the SDK needs to reach the sandbox', async () => {
    await withSandbox(async (sandbox) => {
      const answer = await callApi(`POST /v2/sandboxes/${sandbox.sandboxId}/connect`)
      expect(answer).toMatchObject({ status: 200, body: { sandboxID: sandbox.sandboxId, clientID: '6532622b', envdVersion: '0.6.13' } })
      const detail = await callApi(`GET /sandboxes/${sandbox.sandboxId}`)
      expect(answer.body['envdAccessToken']).toBe(detail.body['envdAccessToken'])
    })
  })
})

describe('[POST /sandboxes/{sandboxID}/connect]', () => {
  test('requires a timeout, and refuses one above the limit', async () => {
    await withSandbox(async (sandbox) => {
      const connect = (body: object) => callApi(`POST /sandboxes/${sandbox.sandboxId}/connect`, { body })
      expect(await connect({ timeout: 60 })).toMatchObject({ status: 200, body: { sandboxID: sandbox.sandboxId } })
      expect(await connect({ timeout: 0 })).toMatchObject({ status: 200 })
      expect(await connect({})).toMatchObject({ status: 400, body: { code: 400, message: expect.stringMatching(/^validation error/) } })
      const message = expect.stringMatching(/^Timeout cannot be greater than \d+ hours$/)
      expect(await connect({ timeout: 2_000_000_000 })).toMatchObject({ status: 400, body: { code: 400, message } })
    })
  })
})

test('[GET /sandboxes/{sandboxID}] [DELETE /sandboxes/{sandboxID}] every operation returns 404 for an unknown sandbox', async () => {
  const id = unknownSandboxId
  const body = { code: 404, message: `Sandbox "${id}" doesn't exist or you don't have access to it` }
  expect(await callApi(`GET /sandboxes/${id}`)).toMatchObject({ status: 404, body })
  expect(await callApi(`DELETE /sandboxes/${id}`)).toMatchObject({ status: 404, body })
  expect(await callApi(`POST /sandboxes/${id}/timeout`, { body: { timeout: 1 } })).toMatchObject({ status: 404, body })
  expect(await callApi(`POST /sandboxes/${id}/refreshes`, { body: {} })).toMatchObject({ status: 404, body })
  expect(await callApi(`POST /sandboxes/${id}/connect`, { body: { timeout: 1 } })).toMatchObject({ status: 404, body })
  expect(await callApi(`POST /v2/sandboxes/${id}/connect`, { body: {} })).toMatchObject({ status: 404, body })
  await expect(Sandbox.getInfo(id)).rejects.toThrow(SandboxNotFoundError)
  await expect(Sandbox.setTimeout(id, 1000)).rejects.toThrow(SandboxNotFoundError)
  await expect(Sandbox.connect(id)).rejects.toThrow(SandboxNotFoundError)
})
