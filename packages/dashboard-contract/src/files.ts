import { Type, type Static } from 'typebox'
import type { BinaryAnswer, BinaryBody, Instant } from './api-shape.ts'
import { filePath, sandboxId } from './request-fields.ts'

export const FileQuery = Type.Object({ path: filePath }, { additionalProperties: false })
export type FileQuery = Static<typeof FileQuery>

export const PathBody = Type.Object({ path: filePath }, { additionalProperties: false })
export type PathBody = Static<typeof PathBody>

export const MoveBody = Type.Object({ from: filePath, to: filePath }, { additionalProperties: false })
export type MoveBody = Static<typeof MoveBody>

/** `version`: that of the file which the writer has read, or `none` for a new file; absent: replaces whatever is there. */
export const WriteQuery = Type.Object(
  { path: filePath, version: Type.Optional(Type.String({ maxLength: 128 })) },
  { additionalProperties: false },
)
export type WriteQuery = Static<typeof WriteQuery>

export const FileParams = Type.Object({ sandboxId })

export interface FileEntry {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly bytes: number
  /** Octal text: `0644`. */
  readonly mode: string
  readonly owner: string
  readonly group: string
  readonly modifiedAt: Instant
  readonly target: string | null
  /** Changes with the content: size and time of change. */
  readonly version: string
}

export interface Listing {
  readonly path: string
  readonly entries: readonly FileEntry[]
  /** There are more than `MAX_DIR_ENTRIES`. */
  readonly isCut: boolean
}

export interface Change {
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted'
}

export interface Changes {
  readonly changes: readonly Change[]
  readonly isCut: boolean
}

interface OfSandbox {
  sandboxId: string
}

/** All answer 409 for a sandbox that does not run: nothing here wakes one. Paths work as root; 404 for an absent path. */
export interface FilesApi {
  'GET /sandboxes/{sandboxId}/files': { params: OfSandbox; query: FileQuery; answer: Listing }
  'GET /sandboxes/{sandboxId}/files/stat': { params: OfSandbox; query: FileQuery; answer: FileEntry }
  'GET /sandboxes/{sandboxId}/files/content': { params: OfSandbox; query: FileQuery; answer: BinaryAnswer }
  /** 412 when `version` is not that of the file now; the answer is the entry after the write. */
  'PUT /sandboxes/{sandboxId}/files/content': { params: OfSandbox; query: WriteQuery; body: BinaryBody; answer: FileEntry }
  'POST /sandboxes/{sandboxId}/files/folder': { params: OfSandbox; body: PathBody; answer: FileEntry }
  'POST /sandboxes/{sandboxId}/files/move': { params: OfSandbox; body: MoveBody; answer: FileEntry }
  'POST /sandboxes/{sandboxId}/files/remove': { params: OfSandbox; body: PathBody; answer: undefined }
  /** Since create. Reads the engine's list, runs nothing inside; also for a paused sandbox. 501 where the runtime cannot. */
  'GET /sandboxes/{sandboxId}/changes': { params: OfSandbox; answer: Changes }
  /** The file as it is in the image. A POST, because the engine makes a container for it. 404: it was not there. 409: it was no file. 413: larger than `MAX_ORIGINAL_BYTES`. */
  'POST /sandboxes/{sandboxId}/changes/original': { params: OfSandbox; body: PathBody; answer: BinaryAnswer }
}
