import type { KnownDifference, Sighting } from './known-difference.ts'
import { ENTRY_DIFFERENCES } from './known/entries.ts'
import { FILE_DIFFERENCES } from './known/files.ts'
import { WATCH_DIFFERENCES } from './known/watches.ts'
import { PROTOCOL_DIFFERENCES } from './known/protocol.ts'
import { PATH_DIFFERENCES } from './known/paths.ts'
import { PROCESS_DIFFERENCES } from './known/processes.ts'

/** Every intended difference. The first match counts. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  ...ENTRY_DIFFERENCES,
  ...PATH_DIFFERENCES,
  ...FILE_DIFFERENCES,
  ...PROTOCOL_DIFFERENCES,
  ...WATCH_DIFFERENCES,
  ...PROCESS_DIFFERENCES,
]

export function findKnownDifference(sighting: Sighting): KnownDifference | undefined {
  return KNOWN_DIFFERENCES.find((known) => known.matches(sighting))
}
