/** Where output of a process comes from. Back-pressure reaches the process: what is not read stays in the kernel. */
export interface OutputChannel {
  /** Settles when every writer has closed its end, or after `close()`. Nothing is read any more then. */
  readonly closed: Promise<void>
  /** Goes on after the taker of the output has said that it is full. */
  resume(): void
  /** Ends the reading; what the kernel still has is lost. */
  close(): void
}

/** Takes bytes that are its own to keep; false stops the reading until `resume()`. */
export type TakeChunk = (bytes: Uint8Array<ArrayBuffer>) => boolean
