import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandbox } from 'e2b'
import { openSandyard, sandyard } from './support/sandyard.ts'
import { withSandbox } from './support/with-sandbox.ts'

let directory: string
beforeAll(async () => (directory = await mkdtemp(join(tmpdir(), 'sandyard-cli-'))))
afterAll(() => rm(directory, { recursive: true, force: true }))

test('`sandyard exec`, `cp` and `connect` work in a sandbox of the SDK', async () => {
  await withSandbox(async (sandbox) => {
    const id = sandbox.sandboxId
    const run = (...args: string[]) => sandyard(directory, args)
    expect(await run('exec', id, '--', 'sh', '-c', 'echo "$USER in $PWD"; echo no >&2; exit 7')).toEqual({
      code: 7,
      stdout: 'user in /home/user\n',
      stderr: 'no\n',
    })
    expect((await sandyard(directory, ['exec', id, '--', 'tr', 'a-z', 'A-Z'], { input: 'through\n' })).stdout).toBe('THROUGH\n')

    await writeFile(join(directory, 'tool'), '#!/bin/sh\necho from the host\n', { mode: 0o755 })
    expect((await run('cp', 'tool', `${id}:bin/`)).code).toBe(0)
    expect((await run('exec', id, '--', './bin/tool')).stdout).toBe('from the host\n')
    await sandbox.files.write('back/a/note', 'from the sandbox')
    expect((await run('cp', `${id}:back`, 'out')).code).toBe(0)
    expect(await readFile(join(directory, 'out', 'a', 'note'), 'utf8')).toBe('from the sandbox')

    using cli = openSandyard(directory, 'connect', id)
    await cli.sees('$')
    cli.terminal.write('echo "$USER at $(stty size)"\r')
    await cli.sees('user at 24 80')
    cli.terminal.resize(100, 30)
    await expect
      .poll(() => {
        cli.terminal.write('stty size\r')
        return cli.shown()
      })
      .toContain('30 100')
    cli.terminal.write('exit 5\r')
    expect(await cli.ended).toBe(5)
  })
})

test('`sandyard up` starts a server that the SDK can use, and `down` stops it', async () => {
  const env = {
    SANDYARD_DATA_DIR: join(directory, 'data'),
    SANDYARD_API_PORT: '0',
    SANDYARD_PROXY_PORT: '0',
    SANDYARD_METRICS_PORT: '0',
    SANDYARD_EGRESS_HEALTH_PORT: '0',
    E2B_API_KEY: '',
    E2B_API_URL: '',
    E2B_SANDBOX_URL: '',
  }
  const run = (...args: string[]) => sandyard(directory, args, { env })
  try {
    const up = await run('up', '--json')
    expect(up, up.stderr).toMatchObject({ code: 0 })
    expect(up.stderr).not.toContain('e2b_')
    const settings = JSON.parse(up.stdout) as Record<'E2B_API_KEY' | 'E2B_API_URL' | 'E2B_SANDBOX_URL', string>
    const sdk = { apiKey: settings.E2B_API_KEY, apiUrl: settings.E2B_API_URL, sandboxUrl: settings.E2B_SANDBOX_URL }
    const sandbox = await Sandbox.create({ ...sdk, timeoutMs: 60_000 })
    const status = await sandyard(directory, ['status', '--json'], { env: { ...env, ...settings } })
    expect(JSON.parse(status.stdout)).toMatchObject({ server: { ready: true }, sandboxes: { running: 1 } })
    const again = await run('up')
    expect(again).toMatchObject({ code: 0, stdout: '' })
    expect(again.stderr).toContain('already runs')
    await sandbox.kill()
    expect(await run('down')).toEqual({ code: 0, stdout: '', stderr: 'The server has stopped.\n' })
    expect((await sandyard(directory, ['status'], { env: { ...env, ...settings } })).code).toBe(5)
  } finally {
    await run('down')
  }
  expect((await run('down')).stderr).toContain('No server runs')
})
