/** What a team may store: those of the settings, or with what its row changes. */
export interface StorageLimits {
  /** Volumes and uploads together; undefined: no limit. */
  readonly maxStoredBytes: number | undefined
}
