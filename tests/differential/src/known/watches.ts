import type { KnownDifference, Sighting } from '../known-difference.ts'

/** Differences in the events of watchers. */
export const WATCH_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'events of names that are not UTF-8',
    reason:
      'Such an event is sent with U+FFFD for each invalid sequence; in the reference daemon it ends a stream, and every later poll of the watcher fails.',
    matches: (sighting) => isWatch(sighting) && JSON.stringify(sighting.all).includes('invalid UTF-8'),
  },
  {
    id: 'entries in events',
    reason: 'An entry describes the file at the moment when the daemon reads the event, which differs a little between the daemons.',
    matches: (sighting) => isWatch(sighting) && /\.entry(\.|$)/.test(sighting.difference.at),
  },
  {
    id: 'directories moved out of a watch',
    reason:
      'Changes in a directory that has left a recursive watch are not reported; the reference daemon continues to report them under its last name.',
    matches: (sighting) =>
      isWatch(sighting) &&
      JSON.stringify(sighting.difference.ours) === '[]' &&
      JSON.stringify(sighting.difference.reference).includes('"renamed/m"'),
  },
]

function isWatch({ difference: { at } }: Sighting): boolean {
  return /^(stream|polled)\./.test(at)
}
