import { Sandbox, Template, waitForFile, type SandboxOpts } from 'e2b'
import { afterAll, describe, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { buildTemplate, removeTemplates, templateName } from '../support/templates.ts'

afterAll(removeTemplates)

/** How long the daemon had run when the create was called, in seconds; negative for a sandbox that was started for the create. */
async function ageAtCreate(sandbox: Sandbox, calledAt: number): Promise<number> {
  const { stdout } = await sandbox.commands.run(`awk '{ print $22 / 100 }' /proc/1/stat; cut -d ' ' -f 1 /proc/uptime`)
  const [startedAt = 0, uptime = 0] = stdout.split('\n').map(Number)
  return uptime - startedAt - (performance.now() - calledAt) / 1000
}

/** Creates sandboxes until one of them has waited for its create. */
async function createWarm(template: string, options: SandboxOpts): Promise<Sandbox> {
  let warm: Sandbox | undefined
  const tryOnce = async (): Promise<boolean> => {
    const calledAt = performance.now()
    const sandbox = await Sandbox.create(template, options)
    if ((await ageAtCreate(sandbox, calledAt)) > 0) warm = sandbox
    else await sandbox.kill()
    return warm !== undefined
  }
  await expect.poll(tryOnce, { timeout: 120_000, interval: 500 }).toBe(true)
  if (warm === undefined) throw new Error('unreachable')
  return warm
}

describe('[POST /v2/sandboxes] a sandbox of the warm pool', () => {
  test('is in every respect the sandbox of its create', async () => {
    const startCmd = 'echo "$OWN-$PAGE" >> /dev/shm/started; touch /dev/shm/ready; sleep infinity'
    const built = Template().fromTemplate('base').setEnvs({ PAGE: 'one' }).setStartCmd(startCmd, waitForFile('/dev/shm/ready'))
    const { name } = await buildTemplate(built, templateName('warm'))
    const metadata = { made: 'warm' }
    const sandbox = await createWarm(name, { envs: { OWN: 'mine' }, metadata, allowInternetAccess: false, timeoutMs: 120_000 })
    try {
      const { stdout } = await sandbox.commands.run('echo "$OWN $PAGE $E2B_SANDBOX_ID"; cat /dev/shm/started /run/e2b/.E2B_SANDBOX_ID')
      // The start command has run once, before the create, so without its variables.
      expect(stdout.trim()).toBe(`mine one ${sandbox.sandboxId}\n-one\n${sandbox.sandboxId}`)
      expect((await sandbox.commands.run('timeout 3 bash -c "echo > /dev/tcp/203.0.113.1/80" 2>&1 || echo closed')).stdout).toContain(
        'closed',
      )
      const info = await sandbox.getInfo()
      expect(info.metadata).toEqual(metadata)
      expect(info.endAt.getTime() - info.startedAt.getTime()).toBe(120_000)
      await expect(sandbox.commands.run('true', { user: 'root' })).resolves.toMatchObject({ exitCode: 0 })
      const { text } = await callApi(`GET /v2/sandboxes/${sandbox.sandboxId}/logs`)
      expect(text).not.toContain('mine')
      const paused = await sandbox.pause()
      expect(paused).toBe(true)
      expect((await (await Sandbox.connect(sandbox.sandboxId)).commands.run('echo "$OWN"')).stdout.trim()).toBe('mine')
    } finally {
      await sandbox.kill()
    }
  })

  test('belongs to one create only', async () => {
    const sandboxes = await Promise.all(Array.from({ length: 6 }, () => Sandbox.create({ timeoutMs: 60_000 })))
    try {
      expect(new Set(sandboxes.map(({ sandboxId }) => sandboxId)).size).toBe(6)
      const written = await Promise.all(
        sandboxes.map(async (sandbox) => {
          await sandbox.files.write('/tmp/own', sandbox.sandboxId)
          return (await sandbox.commands.run('cat /tmp/own; ls /tmp/own* | wc -l')).stdout.trim().split('\n')
        }),
      )
      expect(written).toEqual(sandboxes.map(({ sandboxId }) => [`${sandboxId}1`]))
    } finally {
      await Promise.all(sandboxes.map((sandbox) => sandbox.kill()))
    }
  })
})
