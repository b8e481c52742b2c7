import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { pollUntil } from '@sandyard/kit/async/poll-until'

/** The daemon under test. Only a new process resets the token. */
export class DaemonProcess {
  readonly #command: readonly string[]
  readonly #port: number
  #child: ChildProcess | undefined

  constructor(command: readonly string[], port: number) {
    this.#command = command
    this.#port = port
  }

  /** Whether the process still runs: no request may end it. */
  isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  async restart(): Promise<void> {
    if (this.#child !== undefined && this.isAlive()) {
      this.#child.kill('SIGKILL')
      await once(this.#child, 'exit')
    }
    const [file = '', ...args] = this.#command
    this.#child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: '/' })
    await pollUntil({ what: 'the daemon', timeoutMs: 30_000, everyMs: 10 }, () =>
      fetch(`http://127.0.0.1:${this.#port}/health`).then(
        () => true,
        () => undefined,
      ),
    )
  }
}
