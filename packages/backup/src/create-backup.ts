import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { backupSnapshotName } from '@sandyard/runtime/backup-snapshot'
import type { EngineArchive } from '@sandyard/runtime/engine-archive'
import type { RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import { ArchiveWriter } from './archive/archive-writer.ts'
import {
  BACKUP_FORMAT,
  CREDENTIALS_ENTRY,
  imagesEntry,
  MANIFEST_NAME,
  uploadEntry,
  volumeEntry,
  type Manifest,
  type PausedDump,
} from './manifest.ts'
import { listNeededImages, listPaused, listUploads, readSetting } from './rows-of-engine.ts'
import { readMigrationsOf, readSequences } from './tables/catalog.ts'
import { withConnection } from './tables/connect.ts'
import { dumpTables } from './tables/dump-tables.ts'

export interface BackupOptions {
  readonly file: string
  readonly databaseUrl: string
  readonly sandyardVersion: string
  readonly uploadsFolder: string
  readonly credentialsFile: string
  /** Undefined: without images, volumes and the files of paused sandboxes. */
  readonly openEngine: ((installationId: string) => Promise<EngineArchive>) | undefined
  readonly passphrase?: Secret | undefined
  /** Receives what a person should know, line by line. */
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * The images of one stream. The engine prepares a stream on its own disk first, and stores a layer that images share once in each stream.
 */
const IMAGES_AT_ONCE = 100
const ENGINE_ID_TIMEOUT_MS = 30_000

/**
 * Writes a backup of an installation. Servers may run meanwhile: the rows are those of one instant, and the files of a paused sandbox those of
 * the moment in which they are stored. After a failure no file is left.
 *
 * @throws AppError with a sentence for the operator; the abort reason
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { file, passphrase, signal, sandyardVersion } = options
  await using writer = await ArchiveWriter.create(file, passphrase)
  const createdAt = new Date().toISOString()
  const { paused: pausedRefs, images: needed, uploads, ...rows } = await dumpRows(options, writer)
  const missingFiles = await addFiles(writer, uploads, options)
  const engine = await options.openEngine?.(rows.installationId)
  if (engine !== undefined) await assertEngine(engine, rows.engineId)
  const stored = engine === undefined ? NOTHING : await dumpEngine(engine, { ...options, writer, pausedRefs, needed })
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    sandyardVersion,
    createdAt,
    ...rows,
    hasImages: engine !== undefined,
    ...stored,
    missingFiles,
    entries: [...writer.entries],
  }
  signal.throwIfAborted()
  await writer.finish(MANIFEST_NAME, `${JSON.stringify(manifest, undefined, 2)}\n`)
  return manifest
}

/** Another engine has neither the images nor the paused sandboxes. */
async function assertEngine(engine: EngineArchive, recorded: string | null): Promise<void> {
  const found = await engine.engineId(AbortSignal.timeout(ENGINE_ID_TIMEOUT_MS))
  if (recorded === null || recorded === found) return
  throw new AppError(
    'failed_precondition',
    `The sandboxes of this database are on another Docker engine (${recorded}) than the one that answers here (${found}): set DOCKER_HOST to it, or leave images out with --no-images.`,
  )
}

interface Rows extends Pick<Manifest, 'installationId' | 'engineId' | 'migrations' | 'tables' | 'sequences'> {
  readonly images: readonly string[]
  readonly paused: readonly SandboxRef[]
  readonly uploads: readonly string[]
}

function dumpRows({ databaseUrl, say, signal }: BackupOptions, writer: ArchiveWriter): Promise<Rows> {
  return withConnection(databaseUrl, signal, async (client) => {
    await client.query('begin isolation level repeatable read, read only')
    const migrations = await readMigrationsOf(client)
    const installationId = await readSetting(client, 'installation_id')
    if (installationId === undefined)
      throw new AppError('failed_precondition', 'The database has no installation: no server has started with it yet.')
    const tables = await dumpTables(client, writer)
    say(`tables: ${tables.length} with ${tables.reduce((sum, { rows }) => sum + rows, 0)} rows`)
    return {
      installationId,
      engineId: (await readSetting(client, 'engine_id')) ?? null,
      migrations,
      tables,
      sequences: await readSequences(client),
      images: await listNeededImages(client),
      paused: await listPaused(client),
      uploads: await listUploads(client),
    }
  })
}

/**
 * Stores the credentials and the uploads. An upload that is no longer used may be removed meanwhile, so absent files are no failure.
 *
 * @returns the entries of absent files
 */
async function addFiles(writer: ArchiveWriter, uploads: readonly string[], options: BackupOptions): Promise<string[]> {
  const { credentialsFile, uploadsFolder, say, signal } = options
  const files = [
    { entry: CREDENTIALS_ENTRY, path: credentialsFile },
    ...uploads.map((path) => ({ entry: uploadEntry(path), path: join(uploadsFolder, path) })),
  ]
  const missing: string[] = []
  for (const { entry, path } of files) {
    signal.throwIfAborted()
    if (await isFile(path)) await writer.add(entry, createReadStream(path))
    else {
      say(`not in the backup, because the file does not exist: ${path}`)
      missing.push(entry)
    }
  }
  return missing
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw err
  }
}

type Stored = Pick<Manifest, 'images' | 'missingImages' | 'paused' | 'volumes'>

const NOTHING: Stored = { images: [], missingImages: [], paused: [], volumes: [] }

interface EngineDump extends Pick<BackupOptions, 'say' | 'signal'> {
  readonly writer: ArchiveWriter
  readonly pausedRefs: readonly SandboxRef[]
  readonly needed: readonly string[]
}

async function dumpEngine(engine: EngineArchive, { writer, pausedRefs, needed, say, signal }: EngineDump): Promise<Stored> {
  const snapshots: RuntimeSnapshot[] = []
  try {
    const paused: PausedDump[] = []
    for (const ref of pausedRefs) {
      signal.throwIfAborted()
      const snapshot = await snapshotOf(engine, ref, say)
      if (snapshot === undefined) continue
      snapshots.push(snapshot)
      paused.push({ ...ref, snapshot })
    }
    const present: string[] = []
    const missingImages: string[] = []
    for (const image of needed) ((await engine.imageExists(image)) ? present : missingImages).push(image)
    if (missingImages.length > 0) say(`the engine does not have ${missingImages.length} images that rows name: ${missingImages.join(', ')}`)
    const images = [...present, ...snapshots.map(({ image }) => image)]
    for (let at = 0; at < images.length; at += IMAGES_AT_ONCE) {
      signal.throwIfAborted()
      const stream = await engine.save(images.slice(at, at + IMAGES_AT_ONCE))
      await addStream(writer, imagesEntry(at / IMAGES_AT_ONCE + 1), stream, signal)
    }
    const volumes = await dumpVolumes(engine, { writer, say, signal })
    say(`images: ${present.length}; paused sandboxes: ${paused.length}; volumes: ${volumes.length}`)
    return { images, missingImages, paused, volumes }
  } finally {
    // What cannot be removed now is an image without a row, which the server's collector removes.
    for (const snapshot of snapshots) await engine.deleteSnapshot(snapshot).catch(() => undefined)
  }
}

/** @returns the names of the volumes in the archive */
async function dumpVolumes(engine: EngineArchive, { writer, say, signal }: Omit<EngineDump, 'pausedRefs' | 'needed'>): Promise<string[]> {
  const stored: string[] = []
  for (const name of await engine.listVolumes()) {
    signal.throwIfAborted()
    try {
      await addStream(writer, volumeEntry(name), await engine.saveVolume(name), signal)
      stored.push(name)
    } catch (err) {
      if (!isAppError(err, 'not_found')) throw err
      say(`the volume ${name} is left out: it was removed meanwhile`)
    }
  }
  return stored
}

async function addStream(writer: ArchiveWriter, entry: string, stream: Readable, signal: AbortSignal): Promise<void> {
  const onAbort = (): void => void stream.destroy(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await writer.add(entry, stream)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Undefined for a sandbox that has ended meanwhile, or that the runtime cannot store. */
async function snapshotOf(engine: EngineArchive, ref: SandboxRef, say: BackupOptions['say']): Promise<RuntimeSnapshot | undefined> {
  try {
    return await engine.snapshot(ref, backupSnapshotName())
  } catch (err) {
    if (!isAppError(err, 'not_found') && !isAppError(err, 'failed_precondition')) throw err
    say(`the paused sandbox ${ref.sandboxId} is left out: ${err.message}`)
    return undefined
  }
}
