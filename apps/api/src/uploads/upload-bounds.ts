/** The caps of the uploads of one team. */
export interface UploadBounds {
  /** Archives of a team that are received at once. */
  readonly atOnce: number
  /** Further uploads of a team that wait, unread; more are refused. */
  readonly waiting: number
  /** Deadline for the check of one archive. */
  readonly checkMs: number
}

/**
 * Clients send all archives of a template in parallel, and a template has at most 1,000 steps: no upload of one template is refused. The
 * JavaScript SDK aborts an upload when the server reads nothing of it for five minutes, so many archives are received at once. It waits five
 * minutes for the answer, so the check has a shorter deadline.
 */
export const UPLOAD_BOUNDS: UploadBounds = { atOnce: 64, waiting: 1024, checkMs: 240_000 }
