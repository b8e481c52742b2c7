import type { KnownDifference, Sighting } from '../known-difference.ts'

/** What watchers see. */
export const WATCH_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'events of names that are not UTF-8',
    reason:
      'Such an event is sent with U+FFFD for each bad sequence; it ends a stream of the reference daemon, and all polling of a watcher.',
    matches: (sighting) => isWatch(sighting) && JSON.stringify(sighting.all).includes('invalid UTF-8'),
  },
  {
    id: 'entries in events',
    reason: 'An entry says what was there when the event was read, which is a little earlier or later in either daemon.',
    matches: (sighting) => isWatch(sighting) && /\.entry(\.|$)/.test(sighting.difference.at),
  },
  {
    id: 'directories moved out of a watch',
    reason:
      'What happens in a directory that has left a recursive watch is not reported; the reference daemon goes on under its last name.',
    matches: (sighting) =>
      isWatch(sighting) &&
      JSON.stringify(sighting.difference.ours) === '[]' &&
      JSON.stringify(sighting.difference.reference).includes('"renamed/m"'),
  },
]

function isWatch({ difference: { at } }: Sighting): boolean {
  return /^(stream|polled)\./.test(at)
}
