import type { TerminalSize } from '../sys/pseudo-terminal.ts'

/** A source of process output. Back-pressure reaches the process, because unread output stays in the kernel. */
export interface OutputChannel {
  /** Settles when every writer has closed its end, or after `close()`. No output is read after that. */
  readonly closed: Promise<void>
  /** Continues reading after the receiver was full. */
  resume(): void
  /** Stops reading; unread output in the kernel is lost. */
  close(): void
}

/** Receives bytes and owns them; returns false to stop reading until `resume()`. */
export type TakeChunk = (bytes: Uint8Array<ArrayBuffer>) => boolean

/** What connects the daemon with one process: pipes or a terminal (envd.md 8.5). Failures are AppErrors with the documented messages (envd.md 8.8). */
export interface ProcessStreams {
  readonly outputs: readonly OutputChannel[]
  /**
   * Resolves when the process's input has accepted all bytes, which may never happen. Writes keep their order; a write that has not begun
   * when `signal` aborts is dropped.
   */
  writeStdin(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** The same for a terminal. */
  writeTerminal(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** End of file for the process, after what was written. Idempotent. */
  closeStdin(): void
  resize(size: TerminalSize): void
  /** Drops unread output and unwritten input, because the process has ended. Other processes that still write get EPIPE or SIGHUP. */
  close(): void
}
