const MARKER = /escape:([a-z0-9-]+):([a-z-]+);/g

/** `<probe> <place>` for each marker in a packet (`perl/Escape.pm`). */
export function markersIn(bytes: Uint8Array): string[] {
  return [...Buffer.from(bytes).toString('latin1').matchAll(MARKER)].map(([, probe, place]) => `${probe} ${place}`)
}
