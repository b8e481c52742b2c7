import type { IncomingMessage } from 'node:http'
import { FILE_TIMEOUT_MS, MAX_UPLOAD_BYTES } from '@sandyard/dashboard-contract/limits'
import type { VolumeEntry } from '@sandyard/dashboard-contract/volumes'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { FileServices } from '../../volumes/content/file-services.ts'
import { TRANSFER } from '../../volumes/content/forward.ts'
import { StoredUpload, type StoredUploadParts } from '../../volumes/stored-upload.ts'
import { TooLargeError } from '../relay/files/too-large-error.ts'
import { callVolume, parse, readText, readVolumeEntry, toStat, type OwnVolume } from './call-volume.ts'

export interface VolumeWrite {
  readonly path: string
  readonly body: IncomingMessage
  readonly signal: AbortSignal
}

const MAX_ENTRY_BYTES = 64 * 1024

/**
 * Writes a file, whole or not at all. One that is there is replaced, and keeps its owner and mode. The bytes count against the limit of the team.
 *
 * @throws AppError, `insufficient_storage` above the limit of the team; TooLargeError
 */
export async function putVolumeFile(
  services: FileServices,
  volume: OwnVolume,
  { path, body, signal, ...parts }: VolumeWrite & StoredUploadParts,
): Promise<VolumeEntry> {
  const declared = body.headers['content-length']
  const sizeBytes = declared === undefined ? undefined : Number(declared)
  if (sizeBytes !== undefined && sizeBytes > MAX_UPLOAD_BYTES) throw new TooLargeError(MAX_UPLOAD_BYTES)
  const kept = await findOwner(services, volume, { path, signal })
  await using upload = await StoredUpload.begin(parts, { ...volume, sizeBytes })
  let sentBytes = 0
  const admit = async (bytes: number): Promise<void> => {
    sentBytes += bytes
    if (sentBytes > MAX_UPLOAD_BYTES) throw new TooLargeError(MAX_UPLOAD_BYTES)
    if (sizeBytes === undefined) await upload.admit(bytes)
  }
  try {
    const answer = await callVolume(services, volume, {
      operation: 'PUT /file',
      query: { path, force: 'true', ...kept },
      headers: { 'content-type': 'application/octet-stream', ...(declared !== undefined && { 'content-length': declared }) },
      body,
      admit,
      signal,
      idleTimeoutMs: TRANSFER.idleTimeoutMs,
      timeoutMs: FILE_TIMEOUT_MS,
    })
    // The file is stored whether it could be counted or not; the next measurement counts it.
    await upload.stored().catch((err: unknown) => parts.log.warn({ err, ...volume }, 'bytes of a volume were not counted'))
    return await readVolumeEntry(answer)
  } catch (err) {
    throw isAppError(err) && err.cause instanceof TooLargeError ? err.cause : err
  }
}

/** Owner and mode of the file that is there, as the query of its replacement. */
async function findOwner(
  services: FileServices,
  volume: OwnVolume,
  { path, signal }: Pick<VolumeWrite, 'path' | 'signal'>,
): Promise<Record<string, string>> {
  try {
    const answer = await callVolume(services, volume, { operation: 'GET /path', query: { path }, signal })
    const { type, uid, gid, mode } = toStat(parse(await readText(answer, MAX_ENTRY_BYTES)))
    return type === 'file' ? { uid: String(uid), gid: String(gid), mode: String(mode) } : {}
  } catch (err) {
    if (isAppError(err, 'not_found')) return {}
    throw err
  }
}
