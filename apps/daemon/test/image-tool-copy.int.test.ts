import { chmod, lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ImageRoot, tar, type TarItem } from './support/image-root.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'

const directory = (name: string, mode = 0o755): TarItem => ({ name, type: 'directory', mode })
const file = (name: string, body = name, mode = 0o644): TarItem => ({ name, body, mode })
const link = (name: string, linkname: string): TarItem => ({ name, type: 'symlink', linkname })

/** In the order in which e2b packs a context: the directory, then all entries below it. */
const CONTEXT = [
  directory('a/', 0o750),
  file('a/f.txt', 'f', 0o640),
  link('a/l', 'f.txt'),
  directory('a/sub/', 0o700),
  file('a/sub/g.sh', 'g', 0o755),
]
const CONTENTS = ['f.txt 640 1000:1000 = f', 'l 1000:1000 -> f.txt', 'sub/ 700 1000:1000', 'sub/g.sh 755 1000:1000 = g']

interface Placed {
  readonly items: readonly TarItem[]
  readonly source: string
  readonly destination: string
  readonly workdir?: string
  /** The directory to check and its expected entries. */
  readonly at: string
  readonly expected: readonly string[]
}

const only = [file('top.txt', 't')]
const placed: Readonly<Record<string, Placed>> = {
  'the contents of a directory': {
    items: CONTEXT,
    source: 'a',
    destination: '/opt/x',
    at: 'opt',
    expected: ['x/ 755 1000:1000', ...CONTENTS.map((line) => `x/${line}`)],
  },
  'a directory into an existing directory': { items: CONTEXT, source: './a/', destination: '/srv', at: 'srv', expected: CONTENTS },
  'the whole context': {
    items: [directory('./'), ...CONTEXT],
    source: '.',
    destination: '/srv/',
    at: 'srv',
    expected: ['a/ 750 1000:1000', ...CONTENTS.map((line) => `a/${line}`)],
  },
  'the matches of a pattern': { items: CONTEXT.slice(1), source: 'a/*', destination: '/srv', at: 'srv', expected: CONTENTS },
  'the matches of a pattern, with directories that are missing in the archive': {
    items: [file('a/b/x.txt', 'x')],
    source: 'a/**/*.txt',
    destination: '/srv',
    at: 'srv',
    expected: ['b/ 755 1000:1000', 'b/x.txt 644 1000:1000 = x'],
  },
  'a directory without an entry of its own in the archive': {
    items: [file('a/b/x.txt', 'x')],
    source: 'a/b',
    destination: '/srv',
    at: 'srv',
    expected: ['x.txt 644 1000:1000 = x'],
  },
  'a file under a new name': {
    items: only,
    source: 'top.txt',
    destination: '/srv/new.txt',
    at: 'srv',
    expected: ['new.txt 644 1000:1000 = t'],
  },
  'a file into an existing directory': {
    items: only,
    source: 'top.txt',
    destination: '/srv',
    at: 'srv',
    expected: ['top.txt 644 1000:1000 = t'],
  },
  'a file into a missing directory': {
    items: only,
    source: 'top.txt',
    destination: '/srv/d/e/',
    at: 'srv',
    expected: ['d/ 755 1000:1000', 'd/e/ 755 1000:1000', 'd/e/top.txt 644 1000:1000 = t'],
  },
  'one file of several': {
    items: [...CONTEXT, ...only],
    source: 'a/sub/g.sh',
    destination: '/srv/',
    at: 'srv',
    expected: ['g.sh 755 1000:1000 = g'],
  },
  'a link as a link': {
    items: [link('l', '/etc/passwd')],
    source: 'l',
    destination: '/srv/to',
    at: 'srv',
    expected: ['to 1000:1000 -> /etc/passwd'],
  },
  'to a path relative to the working directory': {
    items: only,
    source: 'top.txt',
    destination: 'd/',
    workdir: '/srv',
    at: 'srv',
    expected: ['d/ 755 1000:1000', 'd/top.txt 644 1000:1000 = t'],
  },
  'to a path in the home directory': {
    items: only,
    source: 'top.txt',
    destination: '~',
    at: 'home/user',
    expected: ['~ 644 1000:1000 = t'],
  },
  'without the entries below a link': {
    items: [link('a/l', '../o'), file('a/l/x')],
    source: 'a',
    destination: '/srv',
    at: 'srv',
    expected: ['l 1000:1000 -> ../o'],
  },
  'a hard link': {
    items: [file('a', 'x'), { name: 'b', type: 'link', linkname: 'a' }],
    source: '*',
    destination: '/srv',
    at: 'srv',
    expected: ['a 644 1000:1000 = x', 'b 644 1000:1000 = x'],
  },
}

describe('copy', () => {
  it.for(Object.entries(placed))('places %s', async ([, { items, source, destination, workdir = null, at, expected }]) => {
    await using image = await ImageRoot.create()
    for (const path of ['srv', 'home/user', 'opt']) await mkdir(join(image.path, path), { recursive: true })
    await image.copy(gzipSync(await tar(items)), { source, destination, workdir })
    expect(await image.list(at)).toEqual(expected)
    expect(await readdir(image.path)).toEqual(['etc', 'home', 'opt', 'srv'])
  })

  it('replaces files and links, follows links to directories, and keeps the metadata of directories', async () => {
    await using image = await ImageRoot.create()
    await image.write('srv/f.txt', 'old', 0o600)
    await image.write('elsewhere/g.sh', 'old', 0o600)
    await chmod(join(image.path, 'elsewhere'), 0o711)
    await symlink('../elsewhere', join(image.path, 'srv/sub'))
    await symlink('nowhere', join(image.path, 'srv/l'))
    await image.copy(await tar(CONTEXT), { source: 'a', destination: '/srv' })
    expect(await image.list('srv')).toEqual(['f.txt 640 1000:1000 = f', 'l 1000:1000 -> f.txt', 'sub 0:0 -> ../elsewhere'])
    expect(await image.list('.')).toEqual(
      expect.arrayContaining(['elsewhere/ 711 0:0', 'elsewhere/g.sh 755 1000:1000 = g', 'srv/ 755 0:0']),
    )
    // A link to a file is replaced, not followed.
    await symlink('f.txt', join(image.path, 'srv/to-file'))
    await image.copy(await tar(only), { source: 'top.txt', destination: '/srv/to-file' })
    expect(await image.list('srv')).toEqual(expect.arrayContaining(['f.txt 640 1000:1000 = f', 'to-file 644 1000:1000 = t']))
  })

  it('preserves everything across file systems', async () => {
    await using image = await ImageRoot.create()
    await using memory = await createScratchDirectory('/dev/shm')
    await symlink(memory.path, join(image.path, 'srv'))
    await writeFile(join(memory.path, 'f.txt'), 'old')
    await image.copy(await tar(CONTEXT.map((item) => ({ ...item, mtime: new Date('2020-01-02T03:04:05Z') }))), {
      source: 'a',
      destination: '/srv',
    })
    expect(await image.list('srv')).toEqual(CONTENTS)
    expect((await lstat(join(memory.path, 'sub'))).mtime).toEqual(new Date('2020-01-02T03:04:05Z'))
  })

  it('keeps modification times', async () => {
    await using image = await ImageRoot.create()
    const mtime = new Date('2020-01-02T03:04:05Z')
    await image.copy(await tar(CONTEXT.map((item) => ({ ...item, mtime }))), { source: 'a', destination: '/srv' })
    for (const path of ['f.txt', 'l', 'sub', 'sub/g.sh']) expect((await lstat(join(image.path, 'srv', path))).mtime).toEqual(mtime)
  })

  it.for<[string, string]>([
    ['', '1000:1000'],
    ['app', '1001:1001'],
    ['nobody', '65534:65534'],
    ['app:staff', '1001:50'],
    ['app:', '1001:1001'],
    [':staff', '1000:50'],
    ['1234', '1234:1234'],
    ['1001:50', '1001:50'],
    ['app:77', '1001:77'],
  ])('sets the owner %o of the copies and of new directories: %s', async ([owner, ids]) => {
    await using image = await ImageRoot.create()
    await image.copy(await tar(CONTEXT), { source: 'a', destination: '/new/x', owner })
    const owners = (await image.list('new')).map((line) => /\d+:\d+/.exec(line)?.[0])
    expect(owners).toEqual(Array.from({ length: 5 }, () => ids))
  })

  it('sets the mode of files and directories, but not of links', async () => {
    await using image = await ImageRoot.create()
    await image.copy(await tar(CONTEXT), { source: 'a', destination: '/srv', mode: '4711' })
    expect(await image.list('srv')).toEqual([
      'f.txt 4711 1000:1000 = f',
      'l 1000:1000 -> f.txt',
      'sub/ 4711 1000:1000',
      'sub/g.sh 4711 1000:1000 = g',
    ])
  })

  it.for<[string, object, readonly TarItem[]]>([
    ["the user 'ghost' does not exist in the image", { owner: 'ghost' }, only],
    ["the user 'ghost' does not exist in the image", { user: 'ghost' }, only],
    ["the group 'ghost' does not exist in the image", { owner: 'app:ghost' }, only],
    ["'9' is not a mode: up to four octal digits are", { mode: '9' }, only],
    ["'missing' is not in the archive of the step", { source: 'missing' }, only],
    ["'top.txt/x' is not in the archive of the step", { source: 'top.txt/x' }, only],
    ["'l/passwd' is not in the archive of the step", { source: 'l/passwd' }, [link('l', '/etc')]],
    ["'/srv/d' is a directory, and a file cannot take its place", { source: 'd', destination: '/srv/' }, [file('d')]],
    ["'/srv/f' is a file, and a directory cannot take its place", { source: '.', destination: '/srv' }, [file('f/x')]],
    ["'/srv/f' is not a directory", { source: '.', destination: '/srv/f/g' }, [file('x')]],
    ['the archive of the step is not there', { archive: '/missing.tar' }, only],
    ["the archive was refused: '../x' has '..' in its name", {}, [file('../x')]],
    ["the archive was refused: 'l' is in it twice", {}, [link('l', '/etc'), directory('l/')]],
    ["the archive was refused: 'f' is in it twice", {}, [file('f'), file('./f')]],
    ["the archive was refused: 'd' is in it twice", {}, [directory('d'), link('d', '/etc')]],
    ["the archive was refused: 'f/x' is below something that is no directory", {}, [file('f'), file('f/x')]],
    [
      "the archive was refused: 'h' is a hard link to no file that the archive had before it",
      {},
      [{ name: 'h', type: 'link', linkname: 'etc/passwd' }],
    ],
    ['the archive was refused: it unpacks to more than 100000 bytes', { maxUnpackedBytes: 100_000 }, [file('zeros', '\0'.repeat(200_000))]],
    ['the archive was refused: it has more than 1 entries', { maxEntries: 1 }, [file('a'), file('b')]],
  ])('refuses and changes nothing: %s', async ([message, request, items]) => {
    await using image = await ImageRoot.create()
    await mkdir(join(image.path, 'srv/d'), { recursive: true })
    await image.write('srv/f', 'old')
    const before = await image.list('.')
    await expect(image.copy(gzipSync(await tar(items)), { source: 'top.txt', destination: '/srv/', ...request })).rejects.toThrow(message)
    expect((await image.list('.')).filter((line) => !line.startsWith('archive.tar'))).toEqual(before)
  })

  it('writes nothing through a link of the archive', async () => {
    await using image = await ImageRoot.create()
    const planted = [link('etc', `${image.path}/etc`), file('etc/passwd', 'root::0:0:::'), link('up', '..'), file('up/planted')]
    await image.copy(await tar(planted), { source: '.', destination: '/srv' })
    expect(await image.list('srv')).toEqual([`etc 1000:1000 -> ${image.path}/etc`, 'up 1000:1000 -> ..'])
    expect(await image.read('etc/passwd')).toContain('user:x:1000')
    expect(await readdir(image.path)).toEqual(['etc', 'srv'])
  })
})
