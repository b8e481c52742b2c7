import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { childPath, toText } from '../users/path-bytes.ts'
import { describeEntry } from '../filesystem/entry-info.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import type { Change, FilesystemEvent } from './watch-event.ts'

/** After these events the name belongs to no entry or to another one. */
const WITHOUT_ENTRY: ReadonlySet<EventType> = new Set([EventType.REMOVE, EventType.RENAME])

export interface Description {
  readonly root: string
  readonly includeEntry: boolean
  readonly accounts: AccountDatabase
}

/** A change as sent to clients: with the current state of the entry if they request it and it can be read (envd.md 7.9). */
export async function describeChange({ path, type }: Change, options: Description): Promise<FilesystemEvent> {
  const name = toText(path)
  if (!options.includeEntry || WITHOUT_ENTRY.has(type)) return { name, type }
  const at = path === '.' ? options.root : childPath(options.root, path)
  try {
    const owners = await options.accounts.read()
    return { name, type, entry: (await describeEntry({ at, shownAs: at, owners })).info }
  } catch {
    return { name, type }
  }
}
