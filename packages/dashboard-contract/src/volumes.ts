import { Type, type Static } from 'typebox'
import type { BinaryAnswer, BinaryBody, Instant } from './api-shape.ts'
import { filePath, uuid } from './request-fields.ts'

export const VolumeFileQuery = Type.Object({ path: filePath }, { additionalProperties: false })
export type VolumeFileQuery = Static<typeof VolumeFileQuery>

export const VolumeParams = Type.Object({ volumeId: uuid })

export interface VolumeEntry {
  readonly name: string
  readonly path: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly bytes: number
  readonly mode: string
  readonly modifiedAt: Instant
}

interface OfVolume {
  volumeId: string
}

/** List, create and delete volumes and secrets: `wire` (`/volumes`, `/secrets`). The content has a token on the wire, which the browser never gets. */
export interface VolumesApi {
  'GET /volumes/{volumeId}/files': { params: OfVolume; query: VolumeFileQuery; answer: { entries: readonly VolumeEntry[]; isCut: boolean } }
  'GET /volumes/{volumeId}/files/content': { params: OfVolume; query: VolumeFileQuery; answer: BinaryAnswer }
  'PUT /volumes/{volumeId}/files/content': { params: OfVolume; query: VolumeFileQuery; body: BinaryBody; answer: VolumeEntry }
  'POST /volumes/{volumeId}/files/folder': { params: OfVolume; body: { path: string }; answer: VolumeEntry }
  'POST /volumes/{volumeId}/files/remove': { params: OfVolume; body: { path: string }; answer: undefined }
}
