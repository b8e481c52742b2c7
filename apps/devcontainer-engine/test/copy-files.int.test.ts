import { mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyFiles, type CopyFiles } from '../src/dockerfile/copy-files.ts'

let folder: string
let from: string
let root: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-'))
  from = join(folder, 'context')
  root = join(folder, 'root')
  for (const name of ['context/tree', 'root/etc', 'outside/deep', 'temporary']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'outside/file'), 'untouched', { mode: 0o600 })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]

const copy = (options: Pick<CopyFiles, 'sources' | 'destination'> & Partial<CopyFiles>): Promise<void> =>
  copyFiles({ from, root, owner: `${uid}:${gid}`, mode: undefined, temporary: join(folder, 'temporary'), ...options })

describe('copyFiles', () => {
  it('copies a file as its destination or into it, and the content of a folder', async () => {
    await writeFile(join(from, 'one'), 'one')
    await writeFile(join(from, 'tree/two'), 'two')
    await copy({ sources: ['one'], destination: '/etc/renamed' })
    await copy({ sources: ['one'], destination: '/etc' })
    await copy({ sources: ['tree'], destination: '/new/folder' })
    const texts = await Promise.all(['etc/renamed', 'etc/one', 'new/folder/two'].map((name) => readFile(join(root, name), 'utf8')))
    expect(texts).toEqual(['one', 'one', 'two'])
  })

  it('changes owner and mode of no file that a link of the context leads to', async () => {
    await symlink(join(folder, 'outside'), join(from, 'tree/out'))
    await symlink('..', join(from, 'tree/up'))
    await writeFile(join(from, 'tree/own'), '', { mode: 0o644 })
    await copy({ sources: ['tree'], destination: '/copied', mode: '755' })
    const modes = await Promise.all(
      [join(folder, 'outside/file'), join(root, 'copied/own')].map(async (path) => (await stat(path)).mode & 0o777),
    )
    expect(modes).toEqual([0o600, 0o755])
    expect(await readlink(join(root, 'copied/up'))).toBe('..')
  })

  it('replaces a link of the image and never writes through it', async () => {
    for (const name of ['tree/direct', 'tree/sub/below']) {
      await mkdir(join(from, name, '..'), { recursive: true })
      await writeFile(join(from, name), 'new')
    }
    await mkdir(join(root, 'etc/sub'))
    await symlink(join(folder, 'outside/file'), join(root, 'etc/direct'))
    await symlink(join(folder, 'outside/file'), join(root, 'etc/sub/below'))
    await copy({ sources: ['tree'], destination: '/etc/' })
    expect(await readFile(join(folder, 'outside/file'), 'utf8')).toBe('untouched')
    const texts = await Promise.all(['direct', 'sub/below'].map((name) => readFile(join(root, 'etc', name), 'utf8')))
    expect(texts).toEqual(['new', 'new'])
  })

  it('reads sources as in the context, also through links and patterns that lead out of it', async () => {
    await symlink(join(folder, 'outside'), join(from, 'out'))
    for (const source of ['out/file', '../outside/file', '../outside/*', 'out/*'])
      await expect(copy({ sources: [source], destination: '/etc/' })).rejects.toThrow(/^(there is no|nothing matches)/)
  })

  it('says why a file cannot be copied', async () => {
    await writeFile(join(from, 'one'), 'one')
    await mkdir(join(root, 'etc/one'))
    await expect(copy({ sources: ['one', 'tree'], destination: '/etc/' })).rejects.toThrow('cannot overwrite directory')
  })
})
