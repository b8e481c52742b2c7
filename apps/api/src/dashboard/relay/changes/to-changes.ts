import type { Changes } from '@sandyard/dashboard-contract/files'
import { MAX_CHANGES } from '@sandyard/dashboard-contract/limits'
import type { RuntimeChanges } from '@sandyard/runtime/types'

/** What the daemon writes in every sandbox (envd.md 8): nobody has changed it. */
const OF_PLATFORM = /^\/(?:\.e2b|run\/e2b(?:\/.*)?)$/s

export function toChanges({ changes, isCut }: RuntimeChanges): Changes {
  const shown = changes.filter(({ path }) => !OF_PLATFORM.test(path)).toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return { changes: shown.slice(0, MAX_CHANGES), isCut: isCut || shown.length > MAX_CHANGES }
}
