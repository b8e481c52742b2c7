/** What a first program with the SDK does: create, commands, files, a terminal, connect, list, kill. */
import assert from 'node:assert/strict'
import { Sandbox } from 'e2b'
import { finish, step } from './steps.mjs'

const sandbox = await step('create', () => Sandbox.create({ timeoutMs: 120_000, metadata: { from: 'matrix' }, envs: { COLOUR: 'blue' } }))
try {
  await step('run a command', async () => {
    const { stdout, stderr, exitCode } = await sandbox.commands.run('echo "$COLOUR"; echo oops >&2')
    assert.deepEqual({ stdout, stderr, exitCode }, { stdout: 'blue\n', stderr: 'oops\n', exitCode: 0 })
  })
  await step('see a failing command', () => assert.rejects(sandbox.commands.run('exit 3'), { name: 'CommandExitError', exitCode: 3 }))
  await step('stream a command in the background', async () => {
    const seen = []
    const running = await sandbox.commands.run('read line; echo "got $line"', {
      background: true,
      stdin: true,
      onStdout: (data) => void seen.push(data),
    })
    await sandbox.commands.sendStdin(running.pid, 'hello\n')
    await running.wait()
    assert.equal(seen.join(''), 'got hello\n')
  })
  await step('write, read, list and remove files', async () => {
    await sandbox.files.write('notes/a.txt', 'first')
    await sandbox.files.write([{ path: 'notes/b.txt', data: 'second' }])
    assert.equal(await sandbox.files.read('notes/b.txt'), 'second')
    assert.deepEqual((await sandbox.files.list('notes')).map(({ name }) => name).sort(), ['a.txt', 'b.txt'])
    await sandbox.files.remove('notes')
    assert.equal(await sandbox.files.exists('notes'), false)
  })
  await step('watch a directory', async () => {
    await sandbox.files.makeDir('watched')
    const { promise, resolve } = Promise.withResolvers()
    const watch = await sandbox.files.watchDir('watched', ({ name }) => resolve(name))
    await sandbox.files.write('watched/new.txt', '')
    assert.equal(await promise, 'new.txt')
    await watch.stop()
  })
  await step('use a terminal', async () => {
    let shown = ''
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: (data) => void (shown += new TextDecoder().decode(data)) })
    await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; exit\n'))
    await terminal.wait()
    assert.match(shown, /24 80/)
  })
  await step('get the address of a port', () => assert.match(sandbox.getHost(3000), new RegExp(`^3000-${sandbox.sandboxId}\\.`)))
  await step('list sandboxes', async () => {
    const pages = Sandbox.list({ query: { metadata: { from: 'matrix' } } })
    const ids = []
    while (pages.hasNext) ids.push(...(await pages.nextItems()).map(({ sandboxId }) => sandboxId))
    assert.ok(ids.includes(sandbox.sandboxId))
  })
  await step('connect to it again', async () => {
    const again = await Sandbox.connect(sandbox.sandboxId)
    assert.equal((await again.commands.run('echo again')).stdout, 'again\n')
    assert.equal((await again.getInfo()).metadata.from, 'matrix')
    await again.setTimeout(60_000)
  })
} finally {
  await step('kill', () => sandbox.kill())
}
finish()
