import type { Stats } from 'node:fs'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'

type Seen = Pick<Stats, 'size' | 'ino' | 'mtimeMs' | 'ctimeMs'>

/**
 * What has happened to a file between two looks at it (envd.md 15): WRITE where the size is another one, the time of change is later or
 * another file has its name, and CHMOD where that time has been set back. Undefined where nothing has: some FUSE servers number files anew.
 */
export function statsEventType(before: Seen, now: Seen): EventType | undefined {
  const isContent = before.size !== now.size || now.mtimeMs > before.mtimeMs
  if (isContent) return EventType.WRITE
  if (before.ctimeMs === now.ctimeMs && before.mtimeMs === now.mtimeMs) return undefined
  return before.ino === now.ino ? EventType.CHMOD : EventType.WRITE
}
