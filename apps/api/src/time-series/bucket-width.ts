const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How often running sandboxes are sampled (control-plane.md 8.3). */
export const SAMPLE_SECONDS = 5

/** The width of the points of a range below a length, in seconds (control-plane.md 5.3). */
const WIDTHS = [
  { below: HOUR, width: SAMPLE_SECONDS },
  { below: 6 * HOUR, width: 30 },
  { below: 12 * HOUR, width: MINUTE },
  { below: DAY, width: 2 * MINUTE },
  { below: 7 * DAY, width: 5 * MINUTE },
]
const LONGEST_WIDTH = 15 * MINUTE
/** The points of a week of 5 minutes each; a longer range gets wider points. */
const MAX_POINTS = 2016

/**
 * The width of the points that a range of time is returned in, so that an answer stays short. All in seconds.
 *
 * @param recordedSeconds the part of the range that can have samples
 */
export function bucketWidth(rangeSeconds: number, recordedSeconds: number = rangeSeconds): number {
  const width = WIDTHS.find(({ below }) => rangeSeconds < below)?.width ?? LONGEST_WIDTH
  return Math.max(width, Math.ceil(recordedSeconds / MAX_POINTS))
}
