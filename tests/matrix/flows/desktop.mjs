/** A desktop that a program uses: picture, mouse, keys, a window, the stream. */
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/desktop'
import { finish, step } from './steps.mjs'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const desktop = await step('create', () => Sandbox.create({ timeoutMs: 230_000, resolution: [1024, 768] }))
try {
  await step('see the size', async () => assert.deepEqual(await desktop.getScreenSize(), { width: 1024, height: 768 }))
  await step('take a screenshot', async () => {
    const picture = Buffer.from(await desktop.screenshot())
    assert.deepEqual(picture.subarray(0, 4), PNG)
    assert.ok(picture.length > 5000, `the picture has ${picture.length} bytes`)
  })
  await step('move the mouse', async () => {
    await desktop.moveMouse(200, 300)
    assert.deepEqual(await desktop.getCursorPosition(), { x: 200, y: 300 })
  })
  await step('click and type', async () => {
    await desktop.leftClick(500, 400)
    await desktop.write('hello')
    await desktop.press('enter')
  })
  await step('stream', async () => {
    await desktop.stream.start()
    assert.match(desktop.stream.getUrl(), /^https:\/\/6080-.*\/vnc\.html/)
    await desktop.stream.stop()
  })
} finally {
  await step('kill', () => desktop.kill())
}
finish()
