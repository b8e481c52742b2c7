import { expect, test } from 'vitest'
import { e2b245, e2b251, type Sdk } from './support/sdks.ts'

const shared = [
  '[GET /v2/sandboxes] [GET /sandboxes/{sandboxID}] [POST /sandboxes/{sandboxID}/timeout] [DELETE /sandboxes/{sandboxID}]',
  '[process.Process/Start] [process.Process/SendSignal] [process.Process/List]',
  '[daemon GET /files] [daemon POST /files] [daemon GET /health] [filesystem.Filesystem/ListDir] [filesystem.Filesystem/Stat]',
  '[filesystem.Filesystem/MakeDir] [filesystem.Filesystem/Move] [filesystem.Filesystem/Remove] [proxy header form]',
].join(' ')

test(`[POST /v2/sandboxes] [POST /v2/sandboxes/{sandboxID}/connect] ${shared} the main job with e2b 2.51.0`, async () => {
  await mainJob(e2b251)
})

test(`[POST /sandboxes] [POST /sandboxes/{sandboxID}/connect] ${shared} the main job with e2b 2.45.0`, async () => {
  await mainJob(e2b245)
})

type Sandbox = InstanceType<Sdk['Sandbox']>

/** The work of a first user, from create to kill, configured by the environment only. */
async function mainJob(sdk: Sdk): Promise<void> {
  const sandbox = await sdk.Sandbox.create()
  try {
    await runCommands(sdk, sandbox)
    await streamOutput(sandbox)
    await killBackgroundCommand(sdk, sandbox)
    await moveFiles(sdk, sandbox)
    await manageSandbox(sdk, sandbox)
  } finally {
    await sandbox.kill()
  }
  await expect.poll(() => sandbox.isRunning(), { timeout: 10_000 }).toBe(false)
  expect(await sdk.Sandbox.kill(sandbox.sandboxId)).toBe(false)
  await expect(sdk.Sandbox.getInfo(sandbox.sandboxId)).rejects.toThrow(sdk.NotFoundError)
  expect(await listedIds(sdk)).not.toContain(sandbox.sandboxId)
}

async function runCommands(sdk: Sdk, { commands }: Sandbox): Promise<void> {
  expect(await commands.run('echo hello; echo oops >&2')).toMatchObject({ stdout: 'hello\n', stderr: 'oops\n', exitCode: 0 })

  const failure = await commands.run('echo partial; echo reason >&2; exit 3').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(sdk.CommandExitError)
  expect(failure).toMatchObject({ stdout: 'partial\n', stderr: 'reason\n', exitCode: 3, error: 'exit status 3' })

  const { stdout } = await commands.run('echo "$GREETING from $(whoami) in $(pwd)"', { envs: { GREETING: 'hej' }, cwd: '/tmp' })
  expect(stdout).toBe('hej from user in /tmp\n')
  expect(await commands.run('whoami; pwd', { user: 'root' })).toMatchObject({ stdout: 'root\n/home/user\n' })
}

/** The command ends only after this test has read its first line and opened the gate. */
async function streamOutput({ commands }: Sandbox): Promise<void> {
  const chunks: string[] = []
  const result = await commands.run('mkfifo /tmp/gate && echo first && cat /tmp/gate', {
    onStdout: async (chunk) => {
      chunks.push(chunk)
      if (chunks.join('') === 'first\n') await commands.run('echo second > /tmp/gate')
    },
  })
  expect(chunks.join('')).toBe('first\nsecond\n')
  expect(result).toMatchObject({ stdout: 'first\nsecond\n', exitCode: 0 })
}

async function killBackgroundCommand(sdk: Sdk, { commands }: Sandbox): Promise<void> {
  const handle = await commands.run('exec sleep 600', { background: true })
  expect(handle.pid).toBeGreaterThan(0)
  expect((await commands.list()).map(({ pid }) => pid)).toContain(handle.pid)
  expect(await handle.kill()).toBe(true)

  const end = await handle.wait().catch((error: unknown) => error)
  expect(end).toBeInstanceOf(sdk.CommandExitError)
  expect(end).toMatchObject({ exitCode: -1, error: 'signal: killed' })
  expect((await commands.list()).map(({ pid }) => pid)).not.toContain(handle.pid)
  expect(await commands.kill(handle.pid)).toBe(false)
}

async function moveFiles(sdk: Sdk, { files }: Sandbox): Promise<void> {
  expect(await files.write('notes/today.txt', 'wörld')).toEqual({
    name: 'today.txt',
    path: '/home/user/notes/today.txt',
    type: 'file',
  })
  expect(await files.read('notes/today.txt')).toBe('wörld')
  expect(await files.makeDir('notes/archive')).toBe(true)
  expect(await files.makeDir('notes/archive')).toBe(false)
  expect((await files.list('notes')).map(({ name, type }) => ({ name, type }))).toEqual([
    { name: 'archive', type: 'dir' },
    { name: 'today.txt', type: 'file' },
  ])

  const moved = await files.rename('notes/today.txt', 'notes/archive/monday.txt')
  expect(moved).toMatchObject({ name: 'monday.txt', path: '/home/user/notes/archive/monday.txt', size: 6 })
  expect(await files.exists('notes/today.txt')).toBe(false)
  expect(await files.exists('notes/archive/monday.txt')).toBe(true)
  expect(await files.getInfo('notes/archive/monday.txt')).toMatchObject({
    type: 'file',
    size: 6,
    mode: 0o644,
    permissions: '-rw-r--r--',
    owner: 'user',
    group: 'user',
    modifiedTime: expect.any(Date),
  })

  await files.remove('notes')
  expect(await files.exists('notes')).toBe(false)
  await expect(files.read('notes/archive/monday.txt')).rejects.toThrow(sdk.FileNotFoundError)
}

async function manageSandbox(sdk: Sdk, sandbox: Sandbox): Promise<void> {
  expect(await sandbox.isRunning()).toBe(true)
  const before = await sandbox.getInfo()
  expect(before).toMatchObject({ sandboxId: sandbox.sandboxId, name: 'base', state: 'running', envdVersion: '0.6.13' })
  expect(before.endAt.getTime()).toBeGreaterThan(before.startedAt.getTime())

  await sandbox.setTimeout(3_600_000)
  expect((await sandbox.getInfo()).endAt.getTime()).toBeGreaterThan(before.endAt.getTime())
  expect(await listedIds(sdk)).toContain(sandbox.sandboxId)

  await sandbox.files.write('kept.txt', 'still here')
  const again = await sdk.Sandbox.connect(sandbox.sandboxId)
  expect(again.sandboxId).toBe(sandbox.sandboxId)
  expect(await again.files.read('kept.txt')).toBe('still here')
  expect(await again.commands.run('cat kept.txt')).toMatchObject({ stdout: 'still here' })
}

async function listedIds(sdk: Sdk): Promise<string[]> {
  const ids: string[] = []
  const pages = sdk.Sandbox.list()
  while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId))
  return ids
}
