/** What the handler of a unary call knows beside its message. */
export interface UnaryCall {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  /** The same, and when it has closed its side of the connection, which looks no different: for a wait that may never be over. */
  readonly hangUp: AbortSignal
  /** The account that the request names (envd.md 3.4). */
  readonly basicUser: string | undefined
}

/** The same of a stream. */
export interface StreamCall {
  /** Aborts when the stream is over. Its reason is an AppError where the client is to be told why, and anything else where it is gone. */
  readonly signal: AbortSignal
  readonly basicUser: string | undefined
  /** The time that the call may take; 0 and undefined are none, though a stream of 0 is over at once (envd.md 6.6). */
  readonly timeoutMs: number | undefined
  /** How long a stream may be silent (envd.md 6.7). */
  readonly keepaliveMs: number
}
