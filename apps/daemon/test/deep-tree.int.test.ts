import { execFile } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createScratchDirectory } from './support/scratch-directory.ts'
import { failureOf, startDaemon } from './support/test-daemon.ts'

const run = promisify(execFile)

it('[filesystem.Filesystem/Remove] removes a tree whose paths are too long for the other calls', async () => {
  await using daemon = await startDaemon()
  await using scratch = await createScratchDirectory()
  const dir = scratch.path
  await writeFile(`${dir}/kept`, 'kept')
  const names = `['${'n'.repeat(100)}', 'sub']`
  const goDown = `for (let level = 0; level < 200; level++) { for (const name of ${names}) fs.mkdirSync(name); process.chdir(${names}[0]) }`
  const atTheEnd = `fs.writeFileSync('file', ''); fs.symlinkSync('${dir}/kept', 'link')`
  await mkdir(`${dir}/deep`)
  await run(process.execPath, ['-e', `${goDown}; ${atTheEnd}`], { cwd: `${dir}/deep` })

  const listing = await failureOf(daemon.filesystem.listDir({ path: `${dir}/deep`, depth: 1000 }))
  expect(listing.code).toBe('Internal')
  expect(listing.message).toMatch(/^error reading directory .*: file name too long$/)
  expect((await daemon.filesystem.listDir({ path: `${dir}/deep`, depth: 30 })).entries).toHaveLength(60)
  const tooLong = `${dir}/deep${`/${'n'.repeat(100)}`.repeat(50)}`
  expect(await failureOf(daemon.filesystem.stat({ path: tooLong }))).toEqual({
    code: 'Internal',
    message: `error getting file info: lstat ${tooLong}: file name too long`,
  })
  await daemon.filesystem.remove({ path: `${dir}/deep` })
  expect(await readdir(dir)).toEqual(['kept'])
})
