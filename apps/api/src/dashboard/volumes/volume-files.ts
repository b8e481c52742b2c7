import { MAX_DIR_ENTRIES, MAX_RELAY_ANSWER_BYTES } from '@sandyard/dashboard-contract/limits'
import type { VolumeEntry } from '@sandyard/dashboard-contract/volumes'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { FileServices } from '../../volumes/content/file-services.ts'
import { callVolume, parse, readVolumeEntry, toVolumeEntry, type OwnVolume } from './call-volume.ts'
import { FirstEntries } from './first-entries.ts'

export interface PathOf {
  readonly path: string
  readonly signal: AbortSignal
}

/** The first entries of a folder, by name. @throws AppError `not_found`; `invalid_argument` for a file */
export async function listVolumeFolder(
  services: FileServices,
  volume: OwnVolume,
  { path, signal }: PathOf,
): Promise<{ readonly entries: readonly VolumeEntry[]; readonly isCut: boolean }> {
  const answer = await callVolume(services, volume, { operation: 'GET /dir', query: { path }, signal })
  const first = new FirstEntries({ maxEntries: MAX_DIR_ENTRIES, maxBytes: MAX_RELAY_ANSWER_BYTES })
  // Leaving the loop destroys the answer, and with it the connection.
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    first.add(chunk)
    if (first.isCut) break
  }
  const entries = parse(first.text())
  if (!Array.isArray(entries)) throw new AppError('bad_gateway', 'The file service of the volume has answered wrongly')
  return { entries: entries.map(toVolumeEntry), isCut: first.isCut }
}

/** @throws AppError `conflict` when it exists; `not_found` without its parent */
export async function makeVolumeFolder(services: FileServices, volume: OwnVolume, { path, signal }: PathOf): Promise<VolumeEntry> {
  return readVolumeEntry(await callVolume(services, volume, { operation: 'POST /dir', query: { path }, signal }))
}

/** A folder with all that is in it. @throws AppError `not_found`; `invalid_argument` for the root */
export async function removeVolumeEntry(services: FileServices, volume: OwnVolume, { path, signal }: PathOf): Promise<void> {
  const answer = await callVolume(services, volume, { operation: 'DELETE /path', query: { path }, signal })
  answer.destroy()
}
