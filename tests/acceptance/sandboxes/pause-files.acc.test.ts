import { Sandbox, Template, waitForPort } from 'e2b'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { countLines, startCounter } from '../support/counter.ts'
import { e2b245, e2b251, type Sdk } from '../support/sdks.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'
import { hostForm, throughProxy } from '../support/through-proxy.ts'

const port = 8000
const START = `echo $$ >> /home/user/starts && exec python3 -m http.server ${port}`
const PATIENCE = { timeout: 30_000, interval: 100 }

let template: string

beforeAll(async () => {
  template = templateName('pause-files')
  await buildTemplate(Template().fromTemplate('base').setStartCmd(START, waitForPort(port)), template)
})
afterAll(removeTemplates)

async function starts(sandbox: Sandbox): Promise<number> {
  return (await sandbox.files.read('/home/user/starts')).split('\n').length - 1
}

async function pageStatus(sandbox: Sandbox): Promise<number> {
  return (await throughProxy(hostForm(sandbox, port), { path: '/' })).status
}

/** The sandbox has its files, none of its processes, and its start command has run once more. */
async function expectFreshBoot(sandbox: Sandbox, { numbers, started }: { numbers: number; started: number }): Promise<void> {
  expect(await starts(sandbox)).toBe(started + 1)
  await expect.poll(() => pageStatus(sandbox), PATIENCE).toBe(200)
  expect(await sandbox.files.read('/home/user/kept')).toBe('kept')
  expect(await countLines(sandbox)).toBeGreaterThanOrEqual(numbers)
  expect((await sandbox.commands.run("pgrep -c -f '[/]tmp/numbers' || true")).stdout).toBe('0\n')
}

describe.each<[string, Sdk]>([
  ['e2b 2.51.0', e2b251],
  ['e2b 2.45.0', e2b245],
])('%s', (_, { Sandbox: Client }) => {
  test('[POST /sandboxes/{sandboxID}/pause] a pause without memory keeps files, and the start command runs anew', async () => {
    const sandbox = await Client.create(template, { lifecycle: { onTimeout: 'pause', autoResume: true } })
    try {
      expect(await pageStatus(sandbox)).toBe(200)
      await sandbox.files.write('/home/user/kept', 'kept')
      await startCounter(sandbox)
      const before = { numbers: await countLines(sandbox), started: await starts(sandbox) }
      expect(await sandbox.pause({ keepMemory: false })).toBe(true)
      expect(await sandbox.pause({ keepMemory: false })).toBe(false)
      expect(await sandbox.isRunning()).toBe(false)
      // Traffic does not wake what has no memory.
      expect(await pageStatus(sandbox)).toBe(502)
      expect((await callApi(`GET /sandboxes/${sandbox.sandboxId}`)).body).toMatchObject({ state: 'paused', pauseMode: 'filesystem' })
      const again = await Client.connect(sandbox.sandboxId)
      await expectFreshBoot(again, before)
      expect((await callApi(`GET /sandboxes/${sandbox.sandboxId}`)).body['pauseMode']).toBeUndefined()
    } finally {
      await sandbox.kill()
    }
  })
})

test('[POST /v2/sandboxes] [POST /sandboxes/{sandboxID}/resume] at its timeout a sandbox keeps its files only', async () => {
  const sandbox = await Sandbox.create(template, { lifecycle: { onTimeout: { action: 'pause', keepMemory: false } } })
  try {
    await sandbox.files.write('/home/user/kept', 'kept')
    await startCounter(sandbox)
    const before = { numbers: await countLines(sandbox), started: await starts(sandbox) }
    await sandbox.setTimeout(1000)
    const paused = { state: 'paused', pauseMode: 'filesystem' }
    await expect.poll(async () => (await callApi(`GET /sandboxes/${sandbox.sandboxId}`)).body, PATIENCE).toMatchObject(paused)
    const resumed = await callApi(`POST /sandboxes/${sandbox.sandboxId}/resume`, { body: { timeout: 120, memory: false } })
    expect(resumed).toMatchObject({ status: 201, body: { sandboxID: sandbox.sandboxId } })
    await expectFreshBoot(sandbox, before)
  } finally {
    await sandbox.kill()
  }
})

test('[POST /v2/sandboxes/{sandboxID}/connect] onResume "reboot" starts a paused sandbox from its files, and leaves a running one alone', async () => {
  const sandbox = await Sandbox.create(template)
  try {
    await sandbox.files.write('/home/user/kept', 'kept')
    const counter = await startCounter(sandbox)
    const before = { numbers: await countLines(sandbox), started: await starts(sandbox) }
    await Sandbox.connect(sandbox.sandboxId, { onResume: 'reboot' })
    await counter.continuesAfter(before.numbers)
    await sandbox.pause()
    expect((await callApi(`GET /sandboxes/${sandbox.sandboxId}`)).body).toMatchObject({ state: 'paused', pauseMode: 'full' })
    await expectFreshBoot(await Sandbox.connect(sandbox.sandboxId, { onResume: 'reboot' }), before)
  } finally {
    await sandbox.kill()
  }
})
