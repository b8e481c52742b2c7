import type { TerminalSize } from '../sys/pseudo-terminal.ts'
import type { OutputChannel } from './output-channel.ts'

/** What connects the daemon with one process: pipes or a terminal (envd.md 8.5). Failures are AppErrors in the wire's words (envd.md 8.8). */
export interface ProcessStreams {
  readonly outputs: readonly OutputChannel[]
  /**
   * Answers when the process's input has taken everything, which may be never. Writes keep their order; one that has not begun when `signal`
   * aborts is given up.
   */
  writeStdin(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** The same for a terminal. */
  writeTerminal(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** End of file for the process, after what was written. Idempotent. */
  closeStdin(): void
  resize(size: TerminalSize): void
  /** Gives up all that is not yet read and written: the process is gone. Whoever else still writes gets EPIPE, or a hang-up. */
  close(): void
}
