/** The provider of ComputeSDK, without options: it reads the settings of the SDK below it. */
import assert from 'node:assert/strict'
import { e2b } from '@computesdk/e2b'
import { finish, step } from './steps.mjs'

const compute = e2b({})
const sandbox = await step('create', () => compute.sandbox.create({ timeout: 100_000, envs: { COLOUR: 'blue' } }))
const id = sandbox.sandboxId
try {
  await step('run a command', async () => {
    const { stdout, exitCode } = await sandbox.runCommand('echo "$COLOUR in $PWD"', { cwd: '/tmp' })
    assert.deepEqual({ stdout, exitCode }, { stdout: 'blue in /tmp\n', exitCode: 0 })
  })
  await step('see a failing command', async () => assert.equal((await sandbox.runCommand('exit 3')).exitCode, 3))
  await step('write, read, list and remove files', async () => {
    await sandbox.filesystem.mkdir('/tmp/notes')
    await sandbox.filesystem.writeFile('/tmp/notes/a.txt', 'first')
    assert.equal(await sandbox.filesystem.readFile('/tmp/notes/a.txt'), 'first')
    assert.deepEqual(
      (await sandbox.filesystem.readdir('/tmp/notes')).map(({ name }) => name),
      ['a.txt'],
    )
    await sandbox.filesystem.remove('/tmp/notes')
    assert.equal(await sandbox.filesystem.exists('/tmp/notes'), false)
  })
  await step('get the address of a port', async () =>
    assert.match(await sandbox.getUrl({ port: 3000, protocol: 'http' }), /^http:\/\/3000-/),
  )
  await step('find it by id and in the list', async () => {
    assert.equal((await compute.sandbox.getById(id)).sandboxId, id)
    assert.ok((await compute.sandbox.list()).some(({ sandboxId }) => sandboxId === id))
  })
} finally {
  await step('destroy', () => compute.sandbox.destroy(id))
}
await step('find it no more', async () => assert.equal(await compute.sandbox.getById(id), null))
finish()
