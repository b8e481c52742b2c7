import { Socket } from 'node:net'
import { AppError } from '@sandyard/kit/errors/app-error'
import { InputTurns } from './input-turns.ts'

/** The standard input of a process that has one (envd.md 8.8, SendInput and CloseStdin). */
export class InputPipe {
  readonly #socket: Socket
  readonly #pid: number
  readonly #turns = new InputTurns()
  #closed = false
  #isGone = false

  constructor(fd: number, pid: number) {
    this.#pid = pid
    this.#socket = new Socket({ fd, readable: false, writable: true })
    // Failures are reported by the callback of each write.
    this.#socket.on('error', () => undefined)
  }

  /**
   * Writes all of `bytes` after earlier writes, and waits while the pipe is full.
   *
   * @param signal aborts when the caller has given up
   * @throws AppError `internal` when the pipe is closed or has no reader
   */
  write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#turns.run(() => this.#write(bytes), signal)
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) throw stdinClosed()
    if (this.#isGone) throw this.#failed('file already closed')
    const failure = await new Promise<Error | null | undefined>((resolve) => this.#socket.write(bytes, resolve))
    if (failure) throw this.#failed('broken pipe', failure)
  }

  /** End of file for the process, after what was written. Idempotent. */
  end(): void {
    this.#closed = true
    this.#socket.end()
  }

  /** Drops unwritten input, because the process has ended. */
  destroy(): void {
    this.#isGone = true
    this.#socket.destroy()
  }

  #failed(reason: string, cause?: unknown): AppError {
    return new AppError('internal', `${PREFIX}error writing to stdin of process '${this.#pid}': write |1: ${reason}`, { cause })
  }
}

const PREFIX = 'error writing to stdin: '

/** The failure of a write to a process that has no standard input. */
export function stdinClosed(): AppError {
  return new AppError('internal', `${PREFIX}stdin not enabled or closed`)
}
