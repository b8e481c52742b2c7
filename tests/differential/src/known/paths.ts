import { type KnownDifference, messageOf } from '../known-difference.ts'

/** How paths are read, and what is refused. */
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
  {
    id: 'removal of a home',
    reason:
      'Remove refuses an empty path, which means the whole working directory or home, and the root. The reference daemon removes them.',
    matches: ({ requests }) => requests.length === 1 && isRemoval(requests, /"path":"\/*"/),
  },
  {
    id: 'removal through a dot',
    reason:
      'Remove refuses a path that ends in `.` or `..`, also before a slash, and touches nothing. The reference daemon removes all that is in it first.',
    matches: ({ requests }) => requests.length === 1 && isRemoval(requests, /\/\.{1,2}\/+"/),
  },
  {
    id: 'removal below a FIFO',
    reason: 'Remove does not open what is in its way; the reference daemon waits for a writer of the FIFO.',
    matches: ({ requests }) => isRemoval(requests, /fifo\/child/),
  },
  {
    id: 'parents of a path that is too long',
    reason: 'Of a path that is too long nothing is created; the reference daemon creates parents until the system refuses one.',
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
