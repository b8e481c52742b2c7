import { writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import { InputTurns } from './input-turns.ts'

/**
 * libuv does not report when a terminal is writable, so a refused write is retried: in each of the next 64 turns of the event loop, since most
 * programs read at once, and then after longer and longer pauses, so that a program that does not read costs little.
 */
const [TURNS, LONGEST_PAUSE_MS] = [64, 32]

/** The input of a terminal (envd.md 8.8, SendInput). Writes never block the daemon, even if the program does not read. */
export class TerminalInput {
  readonly #master: number
  readonly #pid: number
  readonly #turns = new InputTurns()
  #isClosed = false
  #wake: (() => void) | undefined

  /** @param master non-blocking; the caller closes it after `close()` */
  constructor(master: number, pid: number) {
    this.#master = master
    this.#pid = pid
  }

  /**
   * Writes all of `bytes` after earlier writes, and waits while the terminal is full.
   *
   * @param signal aborts when the caller has given up
   * @throws AppError `internal` when the process has ended
   */
  write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#turns.run(() => this.#writeAll(bytes), signal)
  }

  /** Tries again: the terminal may have space. */
  wake(): void {
    this.#wake?.()
  }

  /** Drops unwritten input. */
  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    let refusals = 0
    for (let at = 0; at < bytes.length;) {
      const count = this.#tryWrite(bytes.subarray(at))
      at += count
      refusals = count > 0 ? 0 : refusals + 1
      if (at === bytes.length) return
      if (refusals <= TURNS) await setImmediate()
      else await this.#pause(Math.min(refusals - TURNS, LONGEST_PAUSE_MS))
    }
  }

  /** Returns how many bytes the terminal has accepted. */
  #tryWrite(bytes: Uint8Array): number {
    if (this.#isClosed) throw this.#failed('file already closed')
    try {
      return writeSync(this.#master, bytes)
    } catch (error) {
      if (errnoCode(error) === 'EAGAIN') return 0
      throw this.#failed(errnoText(error), error)
    }
  }

  #failed(reason: string, cause?: unknown): AppError {
    return new AppError('internal', `error writing to tty: error writing to tty of process '${this.#pid}': write /dev/ptmx: ${reason}`, {
      cause,
    })
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
    this.#wake = undefined
  }
}
