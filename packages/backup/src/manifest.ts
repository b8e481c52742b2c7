import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AppError } from '@sandyard/kit/errors/app-error'

/** The version of the archive's format. A change that older releases cannot read raises it. */
export const BACKUP_FORMAT = 1
export const MANIFEST_NAME = 'manifest.json'
export const CREDENTIALS_ENTRY = 'files/credentials'

const Entry = Type.Object({ name: Type.String(), size: Type.Integer(), sha256: Type.String() })

const Table = Type.Object({
  name: Type.String(),
  /** In the order of the text in the entry `tables/<name>.copy`, which has Postgres' text format of COPY. */
  columns: Type.Array(Type.String()),
  rows: Type.Integer(),
})

/** The next value is `value`, or the one after it when `isCalled`. Texts, because they are 64 bits wide. */
const Sequence = Type.Object({ name: Type.String(), value: Type.String(), isCalled: Type.Boolean() })

/** A paused sandbox whose files are in the image of the snapshot. */
const Paused = Type.Object({
  sandboxId: Type.String(),
  incarnation: Type.Integer(),
  snapshot: Type.Object({ runtime: Type.String(), version: Type.Integer(), engine: Type.String(), image: Type.String() }),
})

/** The last entry of an archive: what it is and what it contains. */
const Manifest = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  sandyardVersion: Type.String(),
  createdAt: Type.String(),
  installationId: Type.String(),
  /** Null for a database that no server has used. */
  engineId: Type.Union([Type.String(), Type.Null()]),
  /** The schema of the tables, in the order in which its migrations ran. */
  migrations: Type.Array(Type.Object({ name: Type.String(), sha256: Type.String() })),
  tables: Type.Array(Table),
  sequences: Type.Array(Sequence),
  /** Whether images and the files of paused sandboxes were to be stored. */
  hasImages: Type.Boolean(),
  /** The images in the entries `images/...`. */
  images: Type.Array(Type.String()),
  /** Images that rows name and that the engine did not have. */
  missingImages: Type.Array(Type.String()),
  /** Entries of files that were not there. Backups of older releases do not say it. */
  missingFiles: Type.Optional(Type.Array(Type.String())),
  paused: Type.Array(Paused),
  /** The volumes in the entries `volumes/...`. Backups of older releases have none. */
  volumes: Type.Optional(Type.Array(Type.String())),
  /** Every other entry of the archive, in its order. */
  entries: Type.Array(Entry),
})

export type Manifest = Static<typeof Manifest>
export type TableDump = Static<typeof Table>
export type SequenceState = Static<typeof Sequence>
export type PausedDump = Static<typeof Paused>

/** @throws AppError `failed_precondition` for another format, `invalid_argument` for a text that is no manifest */
export function parseManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw noManifest(cause)
  }
  const format = (value as { readonly format?: unknown } | null)?.format
  if (typeof format === 'number' && format !== BACKUP_FORMAT) {
    throw new AppError('failed_precondition', `The backup has format ${format}, and this release reads format ${BACKUP_FORMAT}.`)
  }
  if (!Value.Check(Manifest, value)) throw noManifest()
  return value
}

function noManifest(cause?: unknown): AppError {
  return new AppError('invalid_argument', 'The backup is damaged: its manifest cannot be read.', { cause })
}

export function tableEntry(table: string): string {
  return `tables/${table}.copy`
}

/** The name of a table whose rows an entry has; undefined for other entries. */
export function tableOfEntry(entry: string): string | undefined {
  return /^tables\/([a-z0-9_]+)\.copy$/.exec(entry)?.[1]
}

export function imagesEntry(number: number): string {
  return `images/${number}.tar`
}

export function isImagesEntry(entry: string): boolean {
  return /^images\/\d+\.tar$/.test(entry)
}

/** `path` is that in the folder of uploads. */
export function uploadEntry(path: string): string {
  return `uploads/${path}`
}

const UPLOAD = /^uploads\/([0-9a-f-]{36}\/[0-9a-f]{64}\.tar)$/

/** Undefined for other entries, and for a path that the server does not use. */
export function uploadOfEntry(entry: string): string | undefined {
  return UPLOAD.exec(entry)?.[1]
}

export function volumeEntry(name: string): string {
  return `volumes/${name}.tar`
}

/** Undefined for other entries. */
export function volumeOfEntry(entry: string): string | undefined {
  return /^volumes\/([0-9A-Za-z_-]{1,128})\.tar$/.exec(entry)?.[1]
}
