import type { Change } from '@sandyard/dashboard-contract/files'

/** What has happened to a path in each of two sandboxes since they were created; undefined: nothing. */
export interface ComparedPath {
  readonly path: string
  readonly here: Change['kind'] | undefined
  readonly there: Change['kind'] | undefined
}

/** The paths that changed in one of them or in both, by name. */
export function compareChanges(here: readonly Change[], there: readonly Change[]): ComparedPath[] {
  const [ours, theirs] = [here, there].map((changes) => new Map(changes.map(({ path, kind }) => [path, kind])))
  const all = [...new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])].toSorted()
  return all.map((path) => ({ path, here: ours?.get(path), there: theirs?.get(path) }))
}
