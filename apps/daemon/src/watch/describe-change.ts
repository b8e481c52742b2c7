import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { type BytePath, childPath, toText } from '../filesystem/byte-path.ts'
import { describeEntry } from '../filesystem/entry-info.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import type { Change, FilesystemEvent } from './watch-event.ts'

/** Whatever has the name of an entry that went is another one. */
const WITHOUT_ENTRY: ReadonlySet<EventType> = new Set([EventType.REMOVE, EventType.RENAME])

export interface Description {
  readonly root: BytePath
  readonly includeEntry: boolean
  readonly accounts: AccountDatabase
}

/** A change as clients see it: with what is there by now where they ask for it and where it can be looked at (envd.md 7.9). */
export async function describeChange({ path, type }: Change, options: Description): Promise<FilesystemEvent> {
  const name = toText(path as BytePath)
  if (!options.includeEntry || WITHOUT_ENTRY.has(type)) return { name, type }
  const at = path === '.' ? options.root : childPath(options.root, path)
  try {
    const owners = await options.accounts.read()
    return { name, type, entry: (await describeEntry({ at, shownAs: at, owners })).info }
  } catch {
    return { name, type }
  }
}
