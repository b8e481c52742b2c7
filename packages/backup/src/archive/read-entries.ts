import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import { decrypt, MAGIC } from './encryption.ts'
import { describeReadFailure } from './file-failure.ts'
import { parsePartName } from './parts.ts'

export interface ArchiveEntry {
  readonly name: string
  /** Read it to its end before the next entry, or not at all. */
  readonly data: AsyncIterable<Buffer>
}

export interface ReadOptions {
  readonly passphrase?: Secret | undefined
  readonly signal?: AbortSignal | undefined
}

type TarEntry = AsyncIterable<Buffer> & { readonly header: { readonly name: string; readonly type?: string | null } }

/**
 * Reads an archive in one pass and never whole.
 *
 * @throws AppError `not_found`, `failed_precondition` for a file that cannot be read; `invalid_argument` for one that is no archive of ours,
 * is damaged, or is encrypted with another passphrase; the abort reason
 */
export async function* readEntries(file: string, { passphrase, signal }: ReadOptions = {}): AsyncGenerator<ArchiveEntry> {
  const source = await openSource(file, passphrase)
  const unpack = extract()
  let failure: unknown
  const feeding = pipeline(source, unpack).catch((err: unknown) => {
    failure ??= err
    throw err
  })
  feeding.catch(() => undefined)
  try {
    const files = (unpack as AsyncIterable<TarEntry>)[Symbol.asyncIterator]()
    yield* join(files, { signal, explained: (err) => explain(failure ?? err, file) })
    await feeding
  } catch (err) {
    signal?.throwIfAborted()
    throw explain(failure ?? err, file)
  } finally {
    unpack.destroy()
    await feeding.catch(() => undefined)
  }
}

interface Joining {
  readonly signal: AbortSignal | undefined
  /** Applied to what the readers of entries get. */
  readonly explained: (error: unknown) => unknown
}

async function* join(files: AsyncIterator<TarEntry>, { signal, explained }: Joining): AsyncGenerator<ArchiveEntry> {
  let next = await files.next()
  while (next.done !== true) {
    const { entry: name, number: first } = read(next.value)
    if (first !== 1) throw damaged()
    const data = (async function* () {
      try {
        for (let number = 1; next.done !== true; number += 1) {
          signal?.throwIfAborted()
          const part = read(next.value)
          if (part.entry !== name) return
          if (part.number !== number) throw damaged()
          yield* next.value
          next = await files.next()
        }
      } catch (err) {
        signal?.throwIfAborted()
        throw explained(err)
      }
    })()
    yield { name, data }
    for await (const _ of data);
  }
}

function read({ header }: TarEntry): { readonly entry: string; readonly number: number } {
  const part = header.type === 'file' ? parsePartName(header.name) : undefined
  if (part === undefined) throw new AppError('invalid_argument', 'This file is not a backup of Sandyard.')
  return part
}

async function openSource(file: string, passphrase: Secret | undefined): Promise<Readable | AsyncIterable<Buffer>> {
  const isEncrypted = await hasMagic(file)
  if (isEncrypted && passphrase === undefined)
    throw new AppError('failed_precondition', `${file} is encrypted: name the file with its passphrase with --passphrase-file.`)
  const source = createReadStream(file, { highWaterMark: 1024 ** 2 })
  return isEncrypted && passphrase !== undefined ? decrypt(source, passphrase) : source
}

async function hasMagic(file: string): Promise<boolean> {
  try {
    const handle = await open(file)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
      return bytesRead === MAGIC.length && buffer.toString() === MAGIC
    } finally {
      await handle.close()
    }
  } catch (err) {
    throw describeReadFailure(err, file)
  }
}

function explain(error: unknown, file: string): unknown {
  const described = describeReadFailure(error, file)
  if (described !== error || error instanceof AppError) return described
  return new AppError('invalid_argument', `${file} is not a backup of Sandyard, or it is damaged.`, { cause: error })
}

function damaged(): AppError {
  return new AppError('invalid_argument', 'The backup is damaged: a part of it is missing.')
}
