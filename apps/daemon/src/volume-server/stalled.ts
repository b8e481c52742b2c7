/** A transfer without a byte for this long ends with its connection: else a client that is gone would keep the service running. */
export const STALLED_MS = 600_000
