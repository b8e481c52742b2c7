import { type KnownDifference, messageOf } from '../known-difference.ts'

/** How paths are read. */
export const PATH_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'home of another user',
    reason: 'The refusal of `~name` names the path that was sent; the reference daemon names an empty one.',
    matches: ({ difference: { at, ours, reference } }) =>
      at.endsWith('message') && String(ours).replace(/expand path '[^']*'/, "expand path ''") === reference,
  },
  {
    id: 'NUL in a path',
    reason:
      "A NUL byte in a path is the client's mistake: a 400 or `invalid_argument` that says so. The reference daemon reports a failed system call, 500 or `internal`.",
    matches: (sighting) => /contains a NUL byte/.test(messageOf(sighting, 'ours')),
  },
]
