import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '../support/api.ts'
import { e2b, e2bWithInput, openTerminal } from '../support/cli.ts'
import { removeTemplatesNamed, templateName } from '../support/templates.ts'

const PATIENCE = { timeout: 60_000, interval: 250 }
const ID = /\bi[a-z0-9]{20}\b/
const snapshot = templateName('cli-snapshot')

let directory: string
beforeAll(async () => (directory = await mkdtemp(join(tmpdir(), 'sandyard-cli-'))))
afterAll(async () => {
  await removeTemplatesNamed(snapshot)
  await rm(directory, { recursive: true, force: true })
})

async function stateOf(id: string): Promise<unknown> {
  const { status, body } = await callApi(`GET /sandboxes/${id}`)
  return status === 200 ? body['state'] : status
}

test('[POST /v2/sandboxes] [POST /sandboxes/{sandboxID}/timeout] `sandbox create` of @e2b/cli 2.19.0 opens a terminal, and the sandbox ends soon after it', async () => {
  using cli = openTerminal(directory, 'sandbox', 'create', 'base', '--env', 'COLOUR=blue', '--cwd', '/tmp')
  await cli.sees('Terminal connecting to template')
  await cli.sees('$')
  cli.terminal.write('echo "$COLOUR in $PWD at $(stty size)"\r')
  await cli.sees('blue in /tmp at 24 80')
  cli.terminal.resize(100, 30)
  await expect
    .poll(() => {
      cli.terminal.write('stty size\r')
      return cli.shown()
    }, PATIENCE)
    .toContain('30 100')
  cli.terminal.write('exit\r')
  expect(await cli.ended).toBe(0)
  const id = ID.exec(cli.shown())?.[0] ?? ''
  await expect.poll(() => stateOf(id), PATIENCE).toBe(404)
})

const operations = [
  '[POST /v2/sandboxes] [POST /v2/sandboxes/{sandboxID}/connect] [GET /v2/sandboxes] [GET /sandboxes/{sandboxID}]',
  '[POST /sandboxes/{sandboxID}/pause]',
  '[POST /sandboxes/{sandboxID}/snapshots] [GET /snapshots] [DELETE /templates/{templateID}] [DELETE /sandboxes/{sandboxID}]',
].join(' ')

test(`${operations} the sandbox commands of @e2b/cli 2.19.0`, { timeout: 240_000 }, async () => {
  const sandbox = (...args: string[]): Promise<string> => e2b(directory, 'sandbox', ...args)
  const options = ['--timeout', '600', '--lifecycle.ontimeout', 'pause', '--lifecycle.autoresume']
  const id = (await sandbox('create', '--detach', ...options)).trim()
  expect(id).toMatch(ID)
  try {
    {
      using cli = openTerminal(directory, 'sandbox', 'connect', id)
      await cli.sees('$')
      cli.terminal.write('echo from the terminal > note\r')
      await cli.sees('$')
      cli.terminal.write('exit\r')
      expect(await cli.ended).toBe(0)
    }
    {
      const command = ['--user', 'root', '--env', 'WHO=me', id, 'sh', '-c', 'cat note; echo $WHO; id -un']
      using cli = openTerminal(directory, 'sandbox', 'exec', ...command)
      await cli.sees('from the terminal\r\nme\r\nroot\r\n')
      expect(await cli.ended).toBe(0)
    }
    expect(await e2bWithInput(directory, 'a\nb\n', 'sandbox', 'exec', id, 'wc', '-l')).toBe('2\n')
    await expect(sandbox('exec', id, 'sh', '-c', 'exit 7')).rejects.toMatchObject({ code: 7 })

    expect(await sandbox('list')).toContain(id)
    expect(JSON.parse(await sandbox('info', '--format', 'json', id))).toMatchObject({
      sandboxId: id,
      state: 'running',
      lifecycle: { onTimeout: 'pause', autoResume: true },
    })

    expect(await sandbox('snapshot', 'create', '--name', snapshot, id)).toMatch(
      new RegExp(`Created snapshot .*/${snapshot}:default from sandbox ${id}`),
    )
    const [made] = JSON.parse(await sandbox('snapshot', 'list', '--name', snapshot, '--format', 'json', id)) as { snapshotId: string }[]
    expect(made?.snapshotId).toMatch(new RegExp(`/${snapshot}:default$`))
    expect(await sandbox('snapshot', 'delete', made?.snapshotId ?? '')).toContain('has been deleted')

    expect(await sandbox('pause', id)).toContain(id)
    expect(await stateOf(id)).toBe('paused')
    expect(await sandbox('list', '--state', 'paused')).toContain(id)
    expect(await sandbox('resume', id)).toContain(`Sandbox ${id} has been resumed`)
    expect(await stateOf(id)).toBe('running')
    expect(await sandbox('kill', id)).toContain(`Sandbox ${id} has been killed`)
    expect(await stateOf(id)).toBe(404)
  } finally {
    await callApi(`DELETE /sandboxes/${id}`)
  }
})
