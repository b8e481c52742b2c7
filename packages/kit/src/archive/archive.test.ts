import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { describe, expect, it } from 'vitest'
import { ARCHIVE_LIMITS, type ArchiveLimits, EntryRules } from './entry-rules.ts'
import { readArchive } from './read-archive.ts'

type Item = Partial<Header> & { readonly name: string; readonly body?: string; readonly pax?: Record<string, string> }

async function tar(...items: readonly Item[]): Promise<Buffer> {
  const archive = pack()
  for (const { body = '', ...header } of items) archive.entry(header, body)
  archive.finalize()
  return Buffer.concat((await Array.fromAsync(archive)) as Buffer[])
}

/** What the rules let pass, as `kind path` and, with an arrow, where it leads; file bodies behind a colon. */
async function read(archive: Buffer, limits: ArchiveLimits = ARCHIVE_LIMITS, pieceBytes = 1000): Promise<string[]> {
  const pieces = Array.from({ length: Math.ceil(archive.length / pieceBytes) }, (_, i) =>
    archive.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )
  const seen: string[] = []
  for await (const { entry, content } of readArchive(Readable.from(pieces, { objectMode: false }), limits)) {
    const body = entry.kind === 'file' ? `: ${Buffer.concat(await Array.fromAsync(content)).toString()}` : ''
    seen.push(`${entry.kind} ${entry.path}${'target' in entry ? ` -> ${entry.target}` : ''}${body}`)
  }
  return seen
}

const file = (name: string, body = 'x'): Item => ({ name, body })
const symlink = (name: string, linkname: string): Item => ({ name, type: 'symlink', linkname })

describe('readArchive', () => {
  const items = [
    { name: './', type: 'directory' },
    file('./a//b.txt', 'hello'),
    symlink('l', '../../etc'),
    { name: 'h', type: 'link', linkname: './a/b.txt' },
  ] as const
  const lines = ['directory ', 'file a/b.txt: hello', 'symlink l -> ../../etc', 'link h -> a/b.txt']

  it.for([1, 511, 100_000])('reads plain and gzip archives in pieces of %i bytes', async (pieceBytes) => {
    const archive = await tar(...items)
    expect(await read(archive, ARCHIVE_LIMITS, pieceBytes)).toEqual(lines)
    expect(await read(gzipSync(archive), ARCHIVE_LIMITS, pieceBytes)).toEqual(lines)
  })

  it('skips members that are not read, and stops when the reader stops', async () => {
    const archive = gzipSync(await tar(file('a', randomBytes(300_000).toString('hex')), file('b', 'kept')))
    const source = Readable.from([archive], { objectMode: false })
    const members = readArchive(source)
    await members.next()
    const { value } = await members.next()
    expect(value?.entry).toMatchObject({ path: 'b', size: 4 })
    await members.return(undefined)
    expect(source.destroyed).toBe(true)
  })

  it('skips members below a link of the archive, which the e2b package adds', async () => {
    expect(await read(await tar(symlink('dir/link', '../other'), file('dir/link/o.txt'), file('dir/link-b', 'b')))).toEqual([
      'symlink dir/link -> ../other',
      'file dir/link-b: b',
    ])
  })

  it.for<[string, readonly Item[]]>([
    ["'/etc/passwd' has an absolute name", [file('/etc/passwd')]],
    ["'a/../../b' has '..' in its name", [file('a/../../b')]],
    [`'${'a/'.repeat(100)}…' is more than 256 directories deep`, [{ ...file('a'), pax: { path: `${'a/'.repeat(256)}b` } }]],
    ["'dev' is a device", [{ name: 'dev', type: 'character-device' }]],
    ["'pipe' is a named pipe", [{ name: 'pipe', type: 'fifo' }]],
    ["'../outside' has '..' in its name", [{ name: 'h', type: 'link', linkname: '../outside' }]],
    ["'/etc/shadow' has an absolute name", [{ name: 'h', type: 'link', linkname: '/etc/shadow' }]],
    ["'h' is a hard link through the symbolic link 'l/shadow'", [symlink('l', '/etc'), { name: 'h', type: 'link', linkname: 'l/shadow' }]],
    ["'l' is in it twice", [symlink('l', '/etc'), { name: 'l/', type: 'directory' }]],
    ["'s' is a sparse file, which is not supported", [{ ...file('s'), pax: { 'GNU.sparse.major': '1' } }]],
    ["'a?b' has a NUL in its name", [{ ...file('a'), pax: { path: 'a\0b' } }]],
    [`'${'n'.repeat(200)}…' has too long a name`, [file('n'.repeat(256))]],
  ])('refuses: %s', async ([reason, items]) => {
    await expect(read(await tar(...items))).rejects.toMatchObject({
      kind: 'invalid_argument',
      message: `the archive was refused: ${reason}`,
    })
  })

  it('refuses too many bytes or entries before it reads them', async () => {
    const zeros = gzipSync(await tar(file('zeros', '\0'.repeat(3_000_000))))
    const limits = { maxBytes: 1_000_000, maxEntries: 3 }
    await expect(read(zeros, limits)).rejects.toThrow('the archive was refused: it unpacks to more than 1000000 bytes')
    const padded = gzipSync(Buffer.alloc(3_000_000))
    await expect(read(padded, limits)).rejects.toThrow('it unpacks to more than 1000000 bytes')
    await expect(read(await tar(...['a', 'b', 'c', 'd'].map((name) => file(name))), limits)).rejects.toThrow('it has more than 3 entries')
    expect(() => new EntryRules(limits).accept({ name: 'huge', type: 'file', size: 2 ** 50 })).toThrow(
      'it unpacks to more than 1000000 bytes',
    )
  })

  it('refuses an endless sequence of headers', async () => {
    const attributes = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 'v']))
    // And the path, which the packer adds.
    expect(await read(await tar({ ...file('a'), pax: attributes(63) }))).toEqual(['file a: x'])
    await expect(read(await tar({ ...file('a'), pax: attributes(64) }))).rejects.toThrow("'a' has more than 64 attributes")
    const archive = await tar({ ...file('a'), pax: attributes(1000) })
    // The attributes of nothing, again and again.
    const header = archive.subarray(0, archive.length - 4 * 512)
    const headers = gzipSync(Buffer.concat([...Array.from({ length: 1000 }, () => header), archive]))
    await expect(read(headers)).rejects.toThrow('the archive was refused: it is made of more than its entries')
    await expect(read(gzipSync(Buffer.alloc(9_000_000)))).rejects.toThrow('it is made of more than its entries')
  })

  it('checks deep names for links in one pass over each name', () => {
    const rules = new EntryRules()
    const deep = `${'a'.repeat(14)}/`.repeat(250)
    rules.accept({ name: `${deep}link`, type: 'symlink', linkname: 'x' })
    for (let index = 0; index < 20_000; index += 1) {
      expect(rules.accept({ name: `${deep}${index}`, type: 'file', size: 0 })).toBeDefined()
    }
    expect(rules.accept({ name: `${deep}link/below`, type: 'file', size: 0 })).toBeUndefined()
  })

  it('limits the memory for links, whatever their names', () => {
    const rules = new EntryRules()
    const nested = (index: number): string => `${index}/${'a/'.repeat(250)}l`
    expect(() => {
      for (let index = 0; index < 10_000; index += 1) rules.accept({ name: nested(index), type: 'symlink', linkname: 'x' })
    }).toThrow('it has too many symbolic links')
  })

  it('accepts large archives and the padding of tar', async () => {
    const archive = Buffer.concat([await tar(file('a', 'x'.repeat(30_000_000)), file('b')), Buffer.alloc(1024 ** 2)])
    const seen = await read(archive, ARCHIVE_LIMITS, archive.length)
    expect(seen.map((line) => line.length)).toEqual([30_000_008, 9])
  })

  it('refuses damaged, truncated and other files', async () => {
    const whole = gzipSync(await tar(file('a', randomBytes(5000).toString('hex'))))
    const tampered = Buffer.from(whole)
    tampered.fill(0xff, 3000, 3100)
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.of(0x1f),
      Buffer.from('hello '.repeat(500)),
      whole.subarray(0, 4000),
      tampered,
      gzipSync('no tar'.repeat(200)),
    ]) {
      await expect(read(bytes)).rejects.toThrow('the archive was refused: it is damaged, or neither a tar file nor a gzip-compressed one')
    }
  })

  it('stops with the abort reason, before the first member and after it', async () => {
    const archive = await tar(file('a', 'x'.repeat(300_000)), file('b'))
    for (const bytes of [archive, gzipSync(archive)]) {
      const source = Readable.from([bytes], { objectMode: false })
      await expect(readArchive(source, ARCHIVE_LIMITS, AbortSignal.abort(new Error('no more'))).next()).rejects.toThrow('no more')
      expect(source.destroyed).toBe(true)

      const stop = new AbortController()
      const members = readArchive(Readable.from([bytes], { objectMode: false }), ARCHIVE_LIMITS, stop.signal)
      expect((await members.next()).value?.entry.path).toBe('a')
      stop.abort(new Error('no more'))
      await expect(members.next()).rejects.toThrow('no more')
    }
  })

  it('rejects with the error of its source', async () => {
    const failing = new Readable({
      read() {
        this.destroy(new Error('the disk is gone'))
      },
    })
    await expect(readArchive(failing).next()).rejects.toThrow('the disk is gone')
  })
})
