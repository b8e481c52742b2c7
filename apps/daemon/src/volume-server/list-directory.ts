import { opendir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { mapConcurrently } from '../filesystem/map-concurrently.ts'
import { errnoCode } from '../sys/errno-text.ts'
import { childPath, decodeLatin1, pathArgument } from '../users/path-bytes.ts'
import { attempt, invalidRequest } from './content-failure.ts'
import { type EntryStat, readEntry } from './entry-stat.ts'
import type { ContentCall } from './content-call.ts'
import { STALLED_MS } from './stalled.ts'

const MAX_ENTRIES = 100_000
const MAX_BYTES = 32 * 1024 * 1024
const BLOCK_BYTES = 64 * 1024
const BATCH = 512
const STATS_AT_ONCE = 16
/** Each may hold `MAX_BYTES`. */
const listings = new Semaphore(2)
const VANISHED = new Set(['ENOENT', 'ENOTDIR'])

/** `GET /dir`: the entries below a directory to a depth, each directory followed by its own, names in order of their bytes. */
export async function listDirectory({ request, response, query }: ContentCall): Promise<void> {
  const [path, depth] = [query.path, query.depth()]
  request.socket.setTimeout(STALLED_MS)
  await listings.run(async () => {
    const listing = new Listing()
    await attempt('read', path, () => addEntries(listing, path, depth))
    const blocks = listing.end()
    const bytes = blocks.reduce((sum, block) => sum + block.length, 0)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes })
    await pipeline(Readable.from(blocks), response)
  })
}

async function addEntries(listing: Listing, directory: string, depth: number): Promise<void> {
  const names = await readNames(directory, listing.room)
  for (let at = 0; at < names.length; at += BATCH) {
    const paths = names.slice(at, at + BATCH).map((name) => childPath(directory, decodeLatin1(name)))
    const entries = await mapConcurrently(paths, STATS_AT_ONCE, (path) => unlessVanished(() => readEntry(path)))
    for (const [index, entry] of entries.entries()) {
      if (entry === undefined) continue
      listing.add(entry)
      const path = paths[index] ?? ''
      if (entry.type === 'directory' && depth > 1) await unlessVanished(() => addEntries(listing, path, depth - 1))
    }
  }
}

/** One character for each byte, sorted. */
async function readNames(directory: string, room: number): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(pathArgument(directory), { encoding: 'latin1', bufferSize: BATCH })) {
    if (names.push(name) > room) throw tooLarge()
  }
  return names.sort()
}

async function unlessVanished<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (VANISHED.has(errnoCode(error))) return undefined
    throw error
  }
}

/** The text of a JSON array of bounded size, in blocks. */
class Listing {
  readonly #blocks: Buffer[] = []
  #open = '['
  #bytes = 0
  #count = 0

  get room(): number {
    return MAX_ENTRIES - this.#count
  }

  add(entry: EntryStat): void {
    this.#open += `${this.#count === 0 ? '' : ','}${JSON.stringify(entry)}`
    this.#count += 1
    if (this.#open.length >= BLOCK_BYTES) this.#closeBlock()
    if (this.#bytes > MAX_BYTES || this.#count > MAX_ENTRIES) throw tooLarge()
  }

  end(): readonly Buffer[] {
    this.#open += ']'
    this.#closeBlock()
    return this.#blocks
  }

  #closeBlock(): void {
    const block = Buffer.from(this.#open)
    this.#blocks.push(block)
    this.#bytes += block.length
    this.#open = ''
  }
}

function tooLarge(): Error {
  return invalidRequest(`the listing has more than ${MAX_ENTRIES} entries or ${MAX_BYTES / 1024 ** 2} MiB: list fewer levels`)
}
