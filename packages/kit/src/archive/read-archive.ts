import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { AppError, isAppError } from '../errors/app-error.ts'
import { ARCHIVE_LIMITS, type ArchiveEntry, type ArchiveLimits, type EntryHeader, EntryRules } from './entry-rules.ts'

/** An entry that the rules let pass, with what tar says of it beyond them. */
export interface ArchiveMember {
  readonly entry: ArchiveEntry
  /** The lower 12 bits. */
  readonly mode: number
  readonly modifiedAt: Date | undefined
  /** A file's bytes, once, before the next member is asked for. What is not read is skipped. */
  readonly content: AsyncIterable<Buffer>
}

const GZIP = Buffer.of(0x1f, 0x8b)
const MODE_BITS = 0o7777
const PIECE_BYTES = 64 * 1024
/** Directories and files of archives that name no mode. */
const DEFAULT_MODE = 0o755

/**
 * Reads a tar archive, plain or gzip by its first bytes, in one pass and never whole. Bytes are counted as they are unpacked, whatever the
 * archive says of its sizes. The source is destroyed at the end, and nothing goes on once the signal has come.
 *
 * @throws AppError `invalid_argument` with the sentence for the user: what the rules refuse, what is damaged and what is no archive; the
 * source's own failure and the signal's reason as they are
 */
export async function* readArchive(
  source: Readable,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
  signal?: AbortSignal,
): AsyncGenerator<ArchiveMember> {
  const rules = new EntryRules(limits)
  const input = new Input(source)
  const unpack = extract()
  const feeding = pipeline(() => count(decompress(input), rules), unpack, { signal })
  feeding.catch(() => {})
  try {
    for await (const member of unpack) {
      const entry = rules.accept(member.header as EntryHeader)
      if (entry !== undefined) yield { entry, ...attributes(member.header), content: input.explained(member) }
      member.resume()
    }
    await feeding
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : input.explain(error)
  } finally {
    unpack.destroy()
    source.destroy()
  }
}

function attributes({ mode, mtime }: Partial<Header>): Pick<ArchiveMember, 'mode' | 'modifiedAt'> {
  return { mode: (mode ?? DEFAULT_MODE) & MODE_BITS, modifiedAt: mtime }
}

/** The archive's bytes as they come, and what it is that failed when something did. */
class Input implements AsyncIterable<Buffer> {
  readonly #source: Readable
  #failure: unknown

  constructor(source: Readable) {
    this.#source = source
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#source) yield chunk as Buffer
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  explain(error: unknown): unknown {
    return this.#failure ?? (isAppError(error) ? error : damaged(error))
  }

  async *explained(content: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of content) yield chunk as Buffer
    } catch (error) {
      throw this.explain(error)
    }
  }
}

async function* decompress(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const pieces = input[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < GZIP.length) {
    const next = await pieces.next()
    if (next.done === true) throw damaged(undefined)
    head = Buffer.concat([head, next.value])
  }
  const whole = (async function* () {
    yield head
    yield* { [Symbol.asyncIterator]: () => pieces }
  })()
  if (!head.subarray(0, GZIP.length).equals(GZIP)) return yield* whole

  const gunzip = createGunzip()
  // What goes wrong is thrown by reading.
  pipeline(whole, gunzip).catch(() => {})
  yield* gunzip
}

/** In pieces, so that what is counted is never far ahead of what has been read. */
async function* count(chunks: AsyncIterable<Buffer>, rules: EntryRules): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES)
      rules.count(piece.length)
      yield piece
    }
  }
}

function damaged(cause: unknown): AppError {
  return new AppError('invalid_argument', 'the archive was refused: it is damaged, or neither a tar file nor a gzip-compressed one', {
    cause,
  })
}
