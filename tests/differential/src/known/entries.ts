import { isDeepStrictEqual } from 'node:util'
import { type KnownDifference, messageOf } from '../known-difference.ts'

const ZEROS = [0, '', false, 'FILE_TYPE_UNSPECIFIED', {}, []]

/** Differences in the form of entries. */
export const ENTRY_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'entry size',
    reason: '`size` is a JSON number, as the clients declare it; the reference daemon sends a decimal string.',
    matches: ({ difference: { at, ours, reference } }) => at.endsWith('.size') && typeof ours === 'number' && reference === String(ours),
  },
  {
    id: 'zeros',
    reason: 'Zero and empty fields are present in JSON; the reference daemon omits them. For clients both mean the same.',
    matches: ({ difference: { at, ours, reference } }) => {
      if (reference !== undefined || at.endsWith('.isSymlink')) return false
      return (at.endsWith('.size') && ours === 0) || ZEROS.some((zero) => isDeepStrictEqual(zero, ours))
    },
  },
  {
    id: 'isSymlink',
    reason: 'Entries have the additional field `isSymlink`; clients that do not know it ignore it.',
    matches: ({ difference: { at, ours, reference } }) => at.endsWith('.isSymlink') && typeof ours === 'boolean' && reference === undefined,
  },
  {
    id: 'names that are not UTF-8',
    reason: 'Such a name is returned with U+FFFD for each invalid sequence; the reference daemon fails the whole call with `internal`.',
    matches: (sighting) => /contains invalid UTF-8/.test(messageOf(sighting, 'reference')),
  },
]
