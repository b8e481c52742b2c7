import type { FileEntry, Listing } from '@sandyard/dashboard-contract/files'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'

export interface TreeRow {
  readonly path: string
  readonly name: string
  /** From 1. */
  readonly level: number
  /** Undefined: `loading` or `empty` of its folder, or a note that the folder is cut. */
  readonly entry: FileEntry | undefined
  readonly note?: 'loading' | 'empty' | 'cut'
  readonly isOpen: boolean
}

type Folders = ReadonlyMap<string, Listing>

/** The rows in view of the tree below `root`: folders first, then by name. `open` holds the paths of open folders. */
export function treeRows(folders: Folders, open: ReadonlySet<string>, root: string): readonly TreeRow[] {
  return [...rowsBelow({ folders, open }, root, 1)]
}

interface Tree {
  readonly folders: Folders
  readonly open: ReadonlySet<string>
}

/** A folder that links to one of its parents would have no end. */
const MAX_LEVEL = 64

function* rowsBelow(tree: Tree, folder: string, level: number): Generator<TreeRow> {
  const { folders, open } = tree
  const note = (name: NonNullable<TreeRow['note']>): TreeRow => {
    return { path: `${folder}\u0000${name}`, name: '', level, entry: undefined, note: name, isOpen: false }
  }
  const listing = folders.get(folder)
  if (listing === undefined) {
    yield note('loading')
    return
  }
  if (listing.entries.length === 0) yield note('empty')
  for (const entry of [...listing.entries].sort(byKindAndName)) {
    const isOpen = entry.kind === 'directory' && open.has(entry.path)
    yield { path: entry.path, name: entry.name, level, entry, isOpen }
    if (isOpen && level < MAX_LEVEL) yield* rowsBelow(tree, entry.path, level + 1)
  }
  if (listing.isCut) yield note('cut')
}

function byKindAndName(one: FileEntry, other: FileEntry): number {
  const isFolder = Number(other.kind === 'directory') - Number(one.kind === 'directory')
  return isFolder === 0 ? one.name.localeCompare(other.name, undefined, { numeric: true }) : isFolder
}

type WatchChanges = NonNullable<Topics['watch']['patch']['changes']>

/** The listing after changes of its folder; undefined: it must be read again, since an entry of a change is not known. */
export function changedListing(listing: Listing, changes: WatchChanges): Listing | undefined {
  const entries = new Map(listing.entries.map((entry) => [entry.name, entry]))
  for (const { kind, name, entry } of changes) {
    if (entry !== undefined) entries.set(name, entry)
    else if (kind === 'remove' || kind === 'rename') entries.delete(name)
    else return undefined
  }
  return { ...listing, entries: [...entries.values()] }
}

/** What to do with an open file when its folder says that it is now as `entry`; undefined: it is gone. */
export function conflictOf(
  openVersion: string,
  entry: { readonly version: string } | undefined,
  isDirty: boolean,
): 'none' | 'reload' | 'changed' | 'removed' {
  if (entry === undefined) return 'removed'
  if (entry.version === openVersion) return 'none'
  return isDirty ? 'changed' : 'reload'
}
