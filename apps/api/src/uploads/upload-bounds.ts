/** What one team may take of a server that others upload to as well. */
export interface UploadBounds {
  /** Archives of a team that arrive at once. */
  readonly atOnce: number
  /** Of a team, unread until others have arrived; more are refused. */
  readonly waiting: number
  /** As long as the check of one archive may take. */
  readonly checkMs: number
}

/**
 * Clients send all archives of a template in parallel, and a template has a thousand steps at most: none of its uploads is refused. The
 * JavaScript package gives an upload up of which nothing is read for five minutes, so many archives arrive at once; and it waits five
 * minutes for the answer, so a check ends before them.
 */
export const UPLOAD_BOUNDS: UploadBounds = { atOnce: 64, waiting: 1024, checkMs: 240_000 }
