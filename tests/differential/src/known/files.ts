import type { KnownDifference } from '../known-difference.ts'

/** Transfer of files. */
export const FILE_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'type of upload answers',
    reason:
      'The JSON that an upload answers with is declared as `application/json; charset=utf-8`; the reference daemon lets it go as text.',
    matches: ({ difference: { at, ours, reference } }) =>
      at === 'headers.content-type' && ours === 'application/json; charset=utf-8' && reference === 'text/plain; charset=utf-8',
  },
  {
    id: 'FIFO',
    reason:
      'A path that is a FIFO or a socket is refused with 400; the reference daemon waits in vain for whoever reads or writes at its other end.',
    matches: ({ all }) => all.some(({ at, ours, reference }) => at === 'end' && ours === 'whole' && reference === 'late'),
  },
]
