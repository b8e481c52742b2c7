/** The last Unix second of a year that RFC 3339 can write. */
const MAX_SECONDS = 253_402_300_799

export interface TimeRange {
  /** Unix seconds. */
  readonly start?: number | undefined
  readonly end?: number | undefined
}

/** Whether both ends of a range are dates that an answer can have. */
export function isInDates({ start = 0, end = 0 }: TimeRange): boolean {
  return start <= MAX_SECONDS && end <= MAX_SECONDS
}

/** Whether the range ends before it starts. */
export function isReversed({ start, end }: TimeRange): boolean {
  return start !== undefined && end !== undefined && end < start
}
