/** What newer releases of the SDK can do: build a template, pause, take a snapshot, keep files in a volume. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Sandbox, Template, Volume } from 'e2b'
import { finish, step } from './steps.mjs'

const name = `matrix-${randomBytes(6).toString('hex')}`
const template = Template().fromTemplate('base').runCmd('echo built > /home/user/mark').setEnvs({ COLOUR: 'green' })
const built = await step('build a template', () => Template.build(template, name, { cpuCount: 1, memoryMB: 512 }))
try {
  await step('find the template', async () => assert.equal(await Template.exists(name), true))
  const sandbox = await step('create from it', () => Sandbox.create(name, { timeoutMs: 120_000 }))
  try {
    await step('see what the build did', async () =>
      assert.equal((await sandbox.commands.run('cat mark; echo "$COLOUR"')).stdout, 'built\ngreen\n'),
    )
    await step('pause and resume', async () => {
      await sandbox.files.write('kept', 'before the pause')
      await sandbox.pause()
      const resumed = await Sandbox.connect(sandbox.sandboxId)
      assert.equal(await resumed.files.read('kept'), 'before the pause')
    })
    await step('create from a snapshot', async () => {
      const { snapshotId } = await sandbox.createSnapshot()
      const copy = await Sandbox.create(snapshotId, { timeoutMs: 60_000 })
      assert.equal(await copy.files.read('kept'), 'before the pause')
      await copy.kill()
      await Sandbox.deleteSnapshot(snapshotId)
    })
  } finally {
    await step('kill', () => sandbox.kill())
  }
} finally {
  await step('delete the template', () =>
    fetch(`${process.env.E2B_API_URL}/templates/${built.templateId}`, {
      method: 'DELETE',
      headers: { 'X-API-KEY': process.env.E2B_API_KEY },
    }).then(({ status }) => assert.equal(status, 204)),
  )
}
const volume = await step('create a volume', () => Volume.create(name))
try {
  await step('write and read a file of the volume', async () => {
    await volume.writeFile('/note', 'in the volume')
    assert.equal(await volume.readFile('/note'), 'in the volume')
  })
  await step('mount the volume', async () => {
    const sandbox = await Sandbox.create({ timeoutMs: 60_000, volumeMounts: { '/mnt/data': volume } })
    assert.equal((await sandbox.commands.run('cat /mnt/data/note')).stdout, 'in the volume')
    await sandbox.kill()
  })
} finally {
  await step('destroy the volume', () => Volume.destroy(volume.volumeId))
}
finish()
