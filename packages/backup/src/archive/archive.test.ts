import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { checkArchive } from '../check-archive.ts'
import { BACKUP_FORMAT, MANIFEST_NAME, type Manifest } from '../manifest.ts'
import { ArchiveWriter } from './archive-writer.ts'
import { PART_BYTES } from './parts.ts'
import { readEntries } from './read-entries.ts'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-archive-'))
afterAll(() => rmSync(folder, { recursive: true }))

const BIG = randomBytes(2 * PART_BYTES + 12_345)
const EXACT = randomBytes(PART_BYTES)
const CONTENTS = { 'a/big': BIG, 'a/empty': Buffer.alloc(0), 'a/exact': EXACT, 'a/small': Buffer.from('small') }
const PASSPHRASE = new Secret('correct horse')

async function write(name: string, passphrase?: Secret, more: Partial<Manifest> = {}): Promise<string> {
  const file = join(folder, name)
  await using writer = await ArchiveWriter.create(file, passphrase)
  for (const [entry, bytes] of Object.entries(CONTENTS)) await writer.add(entry, chunked(bytes))
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    sandyardVersion: '0.1.0',
    createdAt: new Date().toISOString(),
    installationId: 'x',
    engineId: null,
    migrations: [],
    tables: [],
    sequences: [],
    hasImages: false,
    images: [],
    missingImages: [],
    paused: [],
    entries: [...writer.entries],
    ...more,
  }
  await writer.finish(MANIFEST_NAME, JSON.stringify(manifest))
  return file
}

function chunked(bytes: Buffer): Readable {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 70_001) chunks.push(bytes.subarray(at, at + 70_001))
  return Readable.from(chunks)
}

async function readAll(file: string, passphrase?: Secret): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {}
  for await (const { name, data } of readEntries(file, { passphrase })) {
    const chunks: Buffer[] = []
    for await (const chunk of data) chunks.push(chunk)
    found[name] = Buffer.concat(chunks)
  }
  return found
}

it.for([undefined, PASSPHRASE])('reads what was written, whole or in part (passphrase: %s)', async (passphrase) => {
  const file = await write(`whole-${String(passphrase)}`, passphrase)
  const { [MANIFEST_NAME]: manifest, ...found } = await readAll(file, passphrase)
  expect(manifest?.length).toBeGreaterThan(0)
  expect(Object.keys(found)).toEqual(Object.keys(CONTENTS))
  for (const [name, bytes] of Object.entries(CONTENTS)) expect(found[name]?.equals(bytes), name).toBe(true)
  const skipped: string[] = []
  for await (const { name } of readEntries(file, { passphrase })) skipped.push(name)
  expect(skipped).toEqual([...Object.keys(CONTENTS), MANIFEST_NAME])
  expect((await checkArchive(file, { passphrase })).entries).toHaveLength(4)
})

it('does not contain what it stores in the clear when it is encrypted', async () => {
  const file = await write('secret', PASSPHRASE)
  expect(readFileSync(file).includes('small')).toBe(false)
  await expect(checkArchive(file)).rejects.toThrow('--passphrase-file')
  await expect(checkArchive(file, { passphrase: new Secret('wrong') })).rejects.toThrow('The passphrase is wrong')
})

it.for([
  [undefined, [0.01, 0.3, 0.6, 0.9]],
  [PASSPHRASE, [0.6]],
] as const)('refuses an archive in which one byte was changed (passphrase: %s)', async ([passphrase, places]) => {
  const file = await write(`intact-${String(passphrase)}`, passphrase)
  const bytes = readFileSync(file)
  for (const place of places) {
    const changed = join(folder, 'changed')
    const copy = Buffer.from(bytes)
    const at = Math.floor(copy.length * place)
    copy[at] = (copy[at] ?? 0) ^ 1
    writeFileSync(changed, copy)
    await expect(checkArchive(changed, { passphrase }), String(place)).rejects.toMatchObject({ kind: 'invalid_argument' })
  }
})

it.for([
  [undefined, [0, 1, 300, 512, 4096, PART_BYTES, -100_000, -9000]],
  [PASSPHRASE, [300, -100_000]],
] as const)('refuses an archive that was cut off at any place (passphrase: %s)', async ([passphrase, sizes]) => {
  const file = await write(`uncut-${String(passphrase)}`, passphrase)
  const { length } = readFileSync(file)
  const cut = join(folder, 'cut')
  for (const size of sizes.map((size) => (size < 0 ? length + size : size))) {
    copyFileSync(file, cut)
    truncateSync(cut, size)
    await expect(checkArchive(cut, { passphrase }), String(size)).rejects.toMatchObject({ kind: 'invalid_argument' })
  }
})

it('refuses other files and other formats with a sentence', async () => {
  await expect(checkArchive(join(folder, 'absent'))).rejects.toMatchObject({ kind: 'not_found' })
  await expect(checkArchive(folder)).rejects.toMatchObject({ kind: 'failed_precondition' })
  const text = join(folder, 'text')
  writeFileSync(text, 'no archive at all'.repeat(100))
  await expect(checkArchive(text)).rejects.toThrow('is not a backup of Sandyard')
  const newer = await write('newer', undefined, { format: 2 as 1 })
  await expect(checkArchive(newer)).rejects.toThrow('has format 2')
  const incomplete = await write('incomplete', undefined, { tables: [{ name: 'team', columns: [], rows: 0 }] })
  await expect(checkArchive(incomplete)).rejects.toThrow('tables/team.copy')
})

it('removes the partial file when it is not finished, and keeps an earlier backup', async () => {
  const file = await write('earlier')
  const before = readFileSync(file)
  const failing = (async function* () {
    yield BIG
    throw new Error('the source broke')
  })()
  const attempt = async (): Promise<void> => {
    await using writer = await ArchiveWriter.create(file)
    await writer.add('a', failing)
  }
  await expect(attempt()).rejects.toThrow('the source broke')
  expect(readdirSync(folder).filter((name) => name.startsWith('earlier'))).toEqual(['earlier'])
  expect(readFileSync(file).equals(before)).toBe(true)
})

it('writes two archives of one name at once, and removes what a killed backup left', async () => {
  const file = join(folder, 'same')
  const [abandoned, recent] = [`${file}.00000000.partial`, `${file}.00000001.partial`]
  for (const path of [abandoned, recent]) writeFileSync(path, 'x')
  utimesSync(abandoned, new Date(0), new Date(0))
  await using first = await ArchiveWriter.create(file)
  await first.add('a', chunked(BIG))
  await write('same')
  await first.finish(MANIFEST_NAME, 'of the first')
  expect(readFileSync(file).includes('of the first')).toBe(true)
  expect(readFileSync(file).length).toBeGreaterThan(BIG.length)
  await write('same')
  await checkArchive(file)
  expect(readdirSync(folder).filter((name) => name.startsWith('same'))).toEqual(['same', 'same.00000001.partial'])
})

it('says where it cannot write', async () => {
  const attempt = async (): Promise<void> => {
    await using writer = await ArchiveWriter.create(join(folder, 'absent/backup'))
    await writer.add('a', chunked(BIG))
  }
  await expect(attempt()).rejects.toThrow(/absent\/backup cannot be written \(ENOENT\)/)
})
