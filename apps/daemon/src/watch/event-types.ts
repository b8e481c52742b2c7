import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { IN_ATTRIB, IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MODIFY, IN_MOVE_SELF, IN_MOVED_FROM, IN_MOVED_TO } from '../sys/inotify.ts'

/** One kernel event may mean several; they are reported in this order. */
const OF_ENTRY: readonly (readonly [mask: number, type: EventType])[] = [
  [IN_CREATE | IN_MOVED_TO, EventType.CREATE],
  [IN_MOVED_FROM, EventType.RENAME],
  [IN_ATTRIB, EventType.CHMOD],
  [IN_MODIFY, EventType.WRITE],
  [IN_DELETE, EventType.REMOVE],
]
const OF_ROOT: typeof OF_ENTRY = [
  [IN_MOVE_SELF, EventType.RENAME],
  [IN_ATTRIB, EventType.CHMOD],
  [IN_DELETE_SELF, EventType.REMOVE],
]

/** The meaning of a kernel event for an entry of a watched directory (envd.md 7.9). */
export function entryEventTypes(mask: number): EventType[] {
  return typesOf(OF_ENTRY, mask)
}

/** Its meaning for the watched root itself. */
export function rootEventTypes(mask: number): EventType[] {
  return typesOf(OF_ROOT, mask)
}

function typesOf(table: typeof OF_ENTRY, mask: number): EventType[] {
  return table.filter(([bits]) => (mask & bits) !== 0).map(([, type]) => type)
}
