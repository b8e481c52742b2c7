import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { install } from '../ready-made/support/install.ts'
import { copyExample, npmInstall } from './run-example.ts'

/** The packages of a desktop and of a browser. */
const INSTALL_MS = 1_800_000
beforeAll(() => install('desktop'), INSTALL_MS)

const PAGE = '<title>Hello desktop</title><body style="background:teal;height:3000px">'

test('the desktop example opens the page in a browser, and keeps a picture', async () => {
  await using example = await copyExample('desktop')
  await npmInstall(example)
  await writeFile(join(example.directory, 'page.html'), PAGE)
  const { status, stdout, stderr } = await example.run('npm', ['run', '--silent', 'start', '--', 'page.html', 'screen.png'])
  expect({ status, stdout }, stderr).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^watch: https:\/\/\S+\npage: Hello desktop\npicture: screen\.png\n$/),
  })
  const png = await readFile(join(example.directory, 'screen.png'))
  expect({ format: png.subarray(1, 4).toString(), width: png.readUInt32BE(16), height: png.readUInt32BE(20) }).toEqual({
    format: 'PNG',
    width: 1280,
    height: 800,
  })
})
