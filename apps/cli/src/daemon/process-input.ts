import type { Daemon } from './open-daemon.ts'

type Kind = 'stdin' | 'pty'

/**
 * Sends input to a process in order: one call at a time, and what arrives meanwhile goes together with the next. A process that has ended
 * takes no more; its end is reported by its stream.
 */
export class ProcessInput {
  readonly #daemon: Daemon
  readonly #pid: number
  readonly #kind: Kind
  #waiting: Uint8Array[] = []
  #sending: Promise<void> | undefined
  #isRefused = false

  constructor(daemon: Daemon, pid: number, kind: Kind) {
    this.#daemon = daemon
    this.#pid = pid
    this.#kind = kind
  }

  /** False when the process takes no more input. Resolves when all was sent. */
  async send(bytes: Uint8Array): Promise<boolean> {
    this.#waiting.push(bytes)
    this.#sending ??= this.#drain().finally(() => (this.#sending = undefined))
    await this.#sending
    return !this.#isRefused
  }

  /** The end of the input of a process with pipes. */
  async close(): Promise<void> {
    await this.#sending
    await this.#daemon.process.closeStdin({ process: this.#selector }).catch(() => undefined)
  }

  get #selector() {
    return { selector: { case: 'pid', value: this.#pid } } as const
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isRefused) {
      const value = Buffer.concat(this.#waiting)
      this.#waiting = []
      try {
        await this.#daemon.process.sendInput({ process: this.#selector, input: { input: { case: this.#kind, value } } })
      } catch {
        this.#isRefused = true
      }
    }
  }
}
