import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { EngineArchive } from '@sandyard/runtime/engine-archive'
import { describeWriteFailure } from './archive/file-failure.ts'
import { readEntries, type ReadOptions } from './archive/read-entries.ts'
import { CREDENTIALS_ENTRY, isImagesEntry, uploadOfEntry, volumeOfEntry } from './manifest.ts'

export interface FilesToRestore extends ReadOptions {
  readonly file: string
  readonly uploadsFolder: string
  /** Undefined: images stay in the archive. */
  readonly engine: Pick<EngineArchive, 'load'> | undefined
  /** Undefined: volumes stay in the archive. */
  readonly volumes: Pick<EngineArchive, 'loadVolume'> | undefined
  readonly say: (line: string) => void
}

/**
 * Writes the archives of COPY steps of a checked backup, and loads its images and volumes. Each file is complete or absent, and all of it can be repeated.
 *
 * @returns the text of the credentials, to be stored after the tables; undefined when the backup has none
 * @throws AppError `insufficient_storage` for a full disk; those of the engine
 */
export async function restoreFiles(request: FilesToRestore): Promise<string | undefined> {
  const { file, uploadsFolder, engine, volumes, say } = request
  let credentials: string | undefined
  for await (const { name, data } of readEntries(file, request)) {
    const [upload, volume] = [uploadOfEntry(name), volumeOfEntry(name)]
    if (name === CREDENTIALS_ENTRY) credentials = await readText(data)
    else if (upload !== undefined) await writePrivately(join(uploadsFolder, upload), data)
    else if (isImagesEntry(name) && engine !== undefined) {
      say('loading images into the engine ...')
      await engine.load(data)
      // The engine may not read what comes after the end of its archive.
      for await (const _ of data);
    } else if (volume !== undefined && volumes !== undefined) {
      say(`loading the volume ${volume} ...`)
      if (!(await volumes.loadVolume(volume, data))) say(`the engine has the volume ${volume}: its files stay as they are`)
      for await (const _ of data);
    }
  }
  return credentials
}

async function readText(data: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of data) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function writePrivately(path: string, data: AsyncIterable<Buffer>): Promise<void> {
  const draft = `${path}.restoring`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rm(draft, { force: true })
    await pipeline(data, createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(draft, path)
  } catch (err) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw describeWriteFailure(err, path)
  }
}
