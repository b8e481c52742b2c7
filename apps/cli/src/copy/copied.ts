/** What a copy did. */
export interface Copied {
  files: number
  /** Paths that are neither files nor directories. */
  readonly skipped: string[]
}
