import type { Stats } from 'node:fs'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'

type Seen = Pick<Stats, 'size' | 'ino' | 'mtimeMs' | 'ctimeMs'>

/**
 * The event between two polls of a file (envd.md 15): WRITE if the size differs, the modification time is later or another file has the
 * name; CHMOD if the modification time is earlier; else undefined. Some FUSE servers renumber inodes, so a new number alone means nothing.
 */
export function statsEventType(before: Seen, now: Seen): EventType | undefined {
  const isContent = before.size !== now.size || now.mtimeMs > before.mtimeMs
  if (isContent) return EventType.WRITE
  if (before.ctimeMs === now.ctimeMs && before.mtimeMs === now.mtimeMs) return undefined
  return before.ino === now.ino ? EventType.CHMOD : EventType.WRITE
}
