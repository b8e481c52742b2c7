import { EventType, type FilesystemEvent } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { toFileEntry } from '../../relay/files/file-entry.ts'

export type FileChange = NonNullable<Topics['watch']['patch']['changes']>[number]

const KINDS: Readonly<Partial<Record<EventType, FileChange['kind']>>> = {
  [EventType.CREATE]: 'create',
  [EventType.WRITE]: 'write',
  [EventType.REMOVE]: 'remove',
  [EventType.RENAME]: 'rename',
  [EventType.CHMOD]: 'chmod',
}

/** Undefined for an event that the dashboard does not show. */
export function toFileChange({ name, type, entry }: FilesystemEvent): FileChange | undefined {
  const kind = KINDS[type]
  return kind && { kind, name, ...(entry !== undefined && { entry: toFileEntry(entry) }) }
}
