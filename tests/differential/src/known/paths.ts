import { type KnownDifference, messageOf } from '../known-difference.ts'

/** Differences in the handling of paths, and in refusals. */
export const PATH_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'home of another user',
    reason: 'The error for `~name` has the path of the request; that of the reference daemon has an empty path.',
    matches: ({ difference: { at, ours, reference } }) =>
      at.endsWith('message') && String(ours).replace(/expand path '[^']*'/, "expand path ''") === reference,
  },
  {
    id: 'NUL in a path',
    reason:
      'A NUL byte in a path gets a 400 or `invalid_argument`, with a message that names it. The reference daemon reports a failed system call, 500 or `internal`.',
    matches: (sighting) => /contains a NUL byte/.test(messageOf(sighting, 'ours')),
  },
  {
    id: 'removal of a home',
    reason: 'Remove refuses the root and an empty path, which means the working directory or home. The reference daemon removes them.',
    matches: ({ requests }) => requests.length === 1 && isRemoval(requests, /"path":"\/*"/),
  },
  {
    id: 'removal through a dot',
    reason:
      'Remove refuses a path that ends in `.` or `..`, also before a slash, and removes nothing. The reference daemon first removes the content of the directory.',
    matches: ({ requests }) => requests.length === 1 && isRemoval(requests, /\/\.{1,2}\/+"/),
  },
  {
    id: 'removal below a FIFO',
    reason: 'Remove does not open a FIFO in the path; the reference daemon opens it and waits for a writer.',
    matches: ({ requests }) => isRemoval(requests, /fifo\/child/),
  },
  {
    id: 'parents of a path that is too long',
    reason: 'For a path that is too long no directory is created; the reference daemon creates parents until the system refuses one.',
    matches: ({ requests, difference: { at } }) =>
      requests.length === 1 && (at.startsWith('tree./scratch/p') || at.endsWith('message')) && requests.some(isTooLong),
  },
]

function isRemoval(requests: readonly { target: string; body?: Buffer }[], body: RegExp): boolean {
  return requests.some((request) => request.target.endsWith('/Remove') && body.test(request.body?.toString('latin1') ?? ''))
}

function isTooLong({ target, body }: { target: string; body?: Buffer }): boolean {
  return /(p(\/|%2F)){3000}/.test(target + (body?.toString('latin1') ?? ''))
}
