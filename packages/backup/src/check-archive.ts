import { createHash } from 'node:crypto'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { EntrySum } from './archive/archive-writer.ts'
import { readEntries, type ReadOptions } from './archive/read-entries.ts'
import { MANIFEST_NAME, parseManifest, tableEntry, type Manifest } from './manifest.ts'

const MAX_MANIFEST_BYTES = 256 * 1024 ** 2

/**
 * Reads an archive to its end and compares the size and the SHA-256 of every entry with the manifest.
 *
 * @throws AppError `invalid_argument` for a damaged archive, `failed_precondition` for another format; those of `readEntries`
 */
export async function checkArchive(file: string, options: ReadOptions = {}): Promise<Manifest> {
  const found: EntrySum[] = []
  let text: string | undefined
  for await (const { name, data } of readEntries(file, options)) {
    if (text !== undefined) throw new AppError('invalid_argument', 'The backup is damaged: there are entries after its manifest.')
    if (name === MANIFEST_NAME) text = await readText(data)
    else found.push({ name, ...(await sum(data)) })
  }
  if (text === undefined) throw new AppError('invalid_argument', `${file} is not a complete backup of Sandyard: its manifest is missing.`)
  const manifest = parseManifest(text)
  const wrong = firstDifference(found, manifest)
  if (wrong !== undefined) throw new AppError('invalid_argument', `The backup is damaged: ${wrong} is not what the manifest says.`)
  return manifest
}

function firstDifference(found: readonly EntrySum[], { entries, tables }: Manifest): string | undefined {
  for (let at = 0; at < Math.max(found.length, entries.length); at += 1) {
    const [have, want] = [found[at], entries[at]]
    if (have?.name !== want?.name || have?.size !== want?.size || have?.sha256 !== want?.sha256) return want?.name ?? have?.name
  }
  const names = new Set(entries.map(({ name }) => name))
  return tables.map(({ name }) => tableEntry(name)).find((entry) => !names.has(entry))
}

async function sum(data: AsyncIterable<Buffer>): Promise<Omit<EntrySum, 'name'>> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of data) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}

async function readText(data: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of data) {
    size += chunk.length
    if (size > MAX_MANIFEST_BYTES) throw new AppError('invalid_argument', 'The backup is damaged: its manifest is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
