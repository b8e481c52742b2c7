import { createWriteStream } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolveInRoot } from '../src/root-file-system/resolve-in-root.ts'
import { unpackLayer, UnpackBudget } from '../src/root-file-system/unpack-layer.ts'

let folder: string
let root: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unpack-'))
  root = join(folder, 'root')
  await mkdir(root)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Entry = Partial<Header> & { name: string; content?: string }

async function unpack(entries: readonly Entry[], budget = new UnpackBudget(1_000_000)): Promise<void> {
  const archive = pack()
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  for (const { content = '', ...header } of entries) archive.entry({ uid, gid, mode: 0o755, ...header }, content)
  archive.finalize()
  const file = join(folder, 'layer')
  await pipeline(archive, createGzip(), createWriteStream(file))
  await unpackLayer(file, 'application/vnd.oci.image.layer.v1.tar+gzip', { root, budget })
}

describe('unpackLayer', () => {
  it('writes files, folders and links with their modes and times', async () => {
    const mtime = new Date('2020-01-02T03:04:05Z')
    await unpack([
      { name: 'usr/', type: 'directory', mode: 0o750, mtime },
      { name: 'usr/a', content: 'text', mode: 0o4755, mtime },
      { name: 'b', type: 'symlink', linkname: 'usr/a' },
      { name: 'c', type: 'link', linkname: 'usr/a' },
    ])
    expect(await readFile(join(root, 'b'), 'utf8')).toBe('text')
    const { mode, mtimeMs, ino } = await stat(join(root, 'usr/a'))
    expect([mode & 0o7777, mtimeMs, (await stat(join(root, 'c'))).ino]).toEqual([0o4755, mtime.getTime(), ino])
    expect((await stat(join(root, 'usr'))).mtimeMs).toBe(mtime.getTime())
  })

  it('takes away what a whiteout names, and what is below an opaque folder, but not what the layer brings', async () => {
    await unpack([{ name: 'a/one' }, { name: 'a/two' }, { name: 'b/one' }, { name: 'b/deep/x' }])
    await unpack([{ name: 'a/.wh.one' }, { name: 'b/new' }, { name: 'b/.wh..wh..opq' }])
    expect([await readdir(join(root, 'a')), await readdir(join(root, 'b'))]).toEqual([['two'], ['new']])
  })

  it('replaces a link by a file, and never writes through a link out of the root', async () => {
    await mkdir(join(folder, 'outside'))
    await writeFile(join(folder, 'outside/file'), 'untouched')
    await symlink(join(folder, 'outside'), join(root, 'out'))
    await symlink(join(folder, 'outside/file'), join(root, 'file'))
    await unpack([
      { name: 'out/file', content: 'inside' },
      { name: 'file', content: 'own' },
      { name: '../../up', content: 'x' },
    ])
    expect(await readFile(join(folder, 'outside/file'), 'utf8')).toBe('untouched')
    expect(await readFile(join(root, folder, 'outside/file'), 'utf8')).toBe('inside')
    expect([await readFile(join(root, 'file'), 'utf8'), await readFile(join(root, 'up'), 'utf8')]).toEqual(['own', 'x'])
  })

  it('takes away what is deeper below an opaque folder, next to what the layer brings there', async () => {
    await unpack([{ name: 'b/deep/old' }, { name: 'b/deep/same', content: 'old' }])
    await unpack([{ name: 'b/deep/new' }, { name: 'b/deep/same', content: 'new' }, { name: 'b/.wh..wh..opq' }])
    expect((await readdir(join(root, 'b/deep'))).sort()).toEqual(['new', 'same'])
  })

  it.each(['.wh.', '.wh..', '.wh...', 'a/.wh...'])(
    'refuses the whiteout %s, which names a folder that is not of the layer',
    async (name) => {
      await writeFile(join(folder, 'beside'), '')
      await unpack([{ name: 'a/one' }])
      await expect(unpack([{ name }])).rejects.toThrow('which names no file')
      expect([await readdir(join(root, 'a')), (await readdir(folder)).includes('beside')]).toEqual([['one'], true])
    },
  )

  it('sets the time of no folder outside when a link takes the place of one', async () => {
    const mtime = new Date('2020-01-02T03:04:05Z')
    await mkdir(join(folder, 'outside/deep'), { recursive: true })
    await unpack([
      { name: 'a/', type: 'directory', mtime },
      { name: 'b/deep/', type: 'directory', mtime },
      { name: 'a', type: 'symlink', linkname: join(folder, 'outside') },
      { name: 'b', type: 'symlink', linkname: join(folder, 'outside') },
    ])
    const times = await Promise.all(['outside', 'outside/deep'].map((name) => stat(join(folder, name))))
    expect(times.map(({ mtimeMs }) => mtimeMs)).not.toContain(mtime.getTime())
  })

  it('leaves device files out', async () => {
    await unpack([{ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }, { name: 'a' }])
    expect(await readdir(root)).toEqual(['a'])
  })

  it('refuses a sparse file, whose entry is not its content', async () => {
    const sparse = { name: 's', content: 'map', pax: { 'GNU.sparse.major': '1' } }
    await expect(unpack([sparse])).rejects.toThrow('A layer of the image has an entry of an unknown kind: s')
  })

  it('ends at the budget, and with an unknown kind of layer', async () => {
    await expect(unpack([{ name: 'a', content: 'abcdef' }], new UnpackBudget(5))).rejects.toThrow('The image is too large to unpack')
    await writeFile(join(folder, 'x'), '')
    await expect(unpackLayer(join(folder, 'x'), 'application/other', { root, budget: new UnpackBudget(1) })).rejects.toThrow('unknown kind')
  })
})

describe('resolveInRoot', () => {
  it('reads absolute and relative links as in the root', async () => {
    await mkdir(join(root, 'usr/lib'), { recursive: true })
    await symlink('usr/lib', join(root, 'lib'))
    await symlink('/usr/../../usr/lib', join(root, 'usr/again'))
    expect(await resolveInRoot(root, '/lib/x')).toBe(join(root, 'usr/lib/x'))
    expect(await resolveInRoot(root, 'usr/again/../y')).toBe(join(root, 'usr/y'))
    expect(await resolveInRoot(root, '/lib', { followLast: false })).toBe(join(root, 'lib'))
    expect((await lstat(await resolveInRoot(root, '../../..'))).ino).toBe((await lstat(root)).ino)
  })

  it('refuses links in a circle', async () => {
    await symlink('b', join(root, 'a'))
    await symlink('a', join(root, 'b'))
    await expect(resolveInRoot(root, '/a')).rejects.toThrow('Too many symbolic links')
  })
})
