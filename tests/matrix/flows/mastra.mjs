/** The sandbox of a Mastra workspace. Its first start builds a template of its own, with s3fs for mounts of buckets. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { E2BSandbox } from '@mastra/e2b'
import { finish, step } from './steps.mjs'

const id = `matrix-${randomBytes(6).toString('hex')}`
const sandbox = new E2BSandbox({ id, timeout: 120_000, env: { COLOUR: 'blue' } })
await step('start, with the template built where it is missing', () => sandbox._start())
try {
  await step('run a command', async () => {
    const { stdout, exitCode } = await sandbox.executeCommand('sh', ['-c', 'echo "$COLOUR"'])
    assert.deepEqual({ stdout, exitCode }, { stdout: 'blue\n', exitCode: 0 })
  })
  await step('find s3fs', async () => assert.equal((await sandbox.executeCommand('which', ['s3fs'])).exitCode, 0))
  await step('stop, start again and find its files', async () => {
    await sandbox.executeCommand('sh', ['-c', 'echo kept > /home/user/kept'])
    await sandbox._stop()
    const again = new E2BSandbox({ id, timeout: 120_000 })
    await again._start()
    assert.equal((await again.executeCommand('cat', ['/home/user/kept'])).stdout, 'kept\n')
    await again._destroy()
  })
} finally {
  await step('destroy', () => sandbox._destroy())
}
finish()
