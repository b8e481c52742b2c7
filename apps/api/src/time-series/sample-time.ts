/**
 * The times of a sample on the wire, both in whole seconds: clients round the ends of a range to seconds, so a range from a sample's own time
 * on includes it.
 */
export function toSampleTime(at: Date): { readonly timestamp: string; readonly timestampUnix: number } {
  const timestampUnix = Math.floor(at.getTime() / 1000)
  return { timestamp: new Date(timestampUnix * 1000).toISOString(), timestampUnix }
}
