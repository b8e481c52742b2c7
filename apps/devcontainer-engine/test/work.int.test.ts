import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withLock } from '../src/work/lock.ts'
import { withWorkFolder } from '../src/work/work-folder.ts'

let directory: string
const children: ChildProcess[] = []
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'work-'))))
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

/** A process that does the work and waits in it: it has written a line when this resolves. */
async function inAnotherProcess(work: string): Promise<ChildProcess> {
  const modules = join(import.meta.dirname, '../src/work')
  const code = `import { withLock } from '${modules}/lock.ts'
    import { withWorkFolder } from '${modules}/work-folder.ts'
    const wait = () => { console.log('there'); return new Promise(() => setInterval(() => {}, 1000)) }
    ${work}`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const workFolders = (): Promise<string[]> => readdir(join(directory, 'work'))

describe('withWorkFolder', () => {
  it('removes its folder at the end, also after an error, and not what was moved out of it', async () => {
    await withWorkFolder(directory, async (folder) => {
      await mkdir(join(folder, 'made'))
      await rename(folder, join(directory, 'kept'))
    })
    const failing = withWorkFolder(directory, async (folder) => {
      await writeFile(join(folder, 'half'), '')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect([await readdir(join(directory, 'kept')), await workFolders()]).toEqual([['made'], []])
  })

  it('removes what a killed process left, and not what a living one works on', async () => {
    const child = await inAnotherProcess(`await withWorkFolder('${directory}', wait)`)
    const left = await workFolders()
    await withWorkFolder(directory, async () => expect(await workFolders()).toHaveLength(2))
    expect(await workFolders()).toEqual(left)
    await kill(child)
    await withWorkFolder(directory, async () => expect(await workFolders()).not.toContain(left[0]))
  })
})

describe('withLock', () => {
  it('waits for another process, and gets the lock when that process is killed', async () => {
    const name = `test ${directory}`
    const child = await inAnotherProcess(`await withLock('${name}', wait)`)
    const order: string[] = []
    const locked = withLock(name, async () => void order.push('locked'))
    await withLock(`another ${name}`, async () => void order.push('another'))
    order.push('killed')
    await kill(child)
    await locked
    expect(order).toEqual(['another', 'killed', 'locked'])
  })
})
