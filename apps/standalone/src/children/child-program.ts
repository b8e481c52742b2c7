import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { ChildReport, LateSettings, MetricsRequest } from '@sandyard/kit/process/supervision'

/** A program of ours that runs as a child process. */
export interface Program {
  /** In metrics: `proxy` of `sandyard_proxy_up`. */
  readonly name: string
  /** As it reads in messages: `the proxy`. */
  readonly title: string
  /** The path of its main file. */
  readonly main: string
  /** The setting with the port that it reports; a restarted one gets the port of the first one. */
  readonly portSetting: string
}

export interface ChildOptions {
  readonly program: Program
  readonly environment: Environment
  readonly heapMib: number
  /** Receives the JSON lines of the log; they go to standard output when absent. */
  readonly onLog?: ((chunk: Buffer) => void) | undefined
}

/** Why a program did not listen, or how it ended. `code` is an error code of the system, such as `EADDRINUSE`. */
export class ChildEnded extends Error {
  override readonly name = 'ChildEnded'
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

const STDERR_TAIL_CHARS = 2000

/** One run of a program as a child process. */
export class ChildProgram {
  /** The port; rejects with ChildEnded when the process ends before it listens. */
  readonly listening: Promise<number>
  /** Resolves when the process has ended. */
  readonly ended: Promise<ChildEnded>
  readonly #child: ChildProcess
  readonly #answers = new Map<number, (page: string) => void>()
  #requests = 0
  #stderr = ''

  constructor({ program, environment, heapMib, onLog }: ChildOptions) {
    this.#child = fork(program.main, {
      env: environment,
      execArgv: [`--max-old-space-size=${heapMib}`],
      // In its own session, so that Ctrl-C reaches the parent only: it ends both, in order.
      detached: true,
      stdio: ['ignore', onLog === undefined ? 'inherit' : 'pipe', 'pipe', 'ipc'],
    })
    if (onLog !== undefined) this.#child.stdout?.on('data', onLog)
    keepTail(this.#child.stderr, (text) => (this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_CHARS)))

    const listening = Promise.withResolvers<number>()
    let failure: ChildEnded | undefined
    this.#child.on('message', (report: ChildReport) => {
      if (report.kind === 'listening') listening.resolve(report.port)
      else if (report.kind === 'failed') failure = new ChildEnded(report.message, report.code)
      else this.#answers.get(report.id)?.(report.page)
    })
    this.ended = ended(this.#child).then((how) => failure ?? new ChildEnded(`${program.title} ended: ${how}${this.#lastOutput()}`))
    this.listening = Promise.race([listening.promise, this.ended.then((reason) => Promise.reject(reason))])
    this.listening.catch(() => undefined)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** The metrics in the text format; undefined when the process does not answer within `timeoutMs`. */
  async metrics(timeoutMs: number): Promise<string | undefined> {
    const id = (this.#requests += 1)
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    this.#answers.set(id, resolve)
    try {
      const request: MetricsRequest = { kind: 'metrics', id }
      // The callback gets the error that `send` would throw without one: the channel is closed and no answer will come.
      if (!this.#child.connected) return undefined
      this.#child.send(request, (err) => (err === null ? undefined : resolve(undefined)))
      return await promise
    } finally {
      clearTimeout(timer)
      this.#answers.delete(id)
    }
  }

  /** Tells it settings that were not known at its start. */
  tell(settings: Readonly<Record<string, string>>): void {
    const message: LateSettings = { kind: 'settings', settings }
    // The callback gets the error that `send` would throw without one; the next process gets the settings from its environment.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Ends the process: in order within `graceMs`, then by SIGKILL. */
  async stop(graceMs: number): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.kill(), graceMs)
    await this.ended
    clearTimeout(timer)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #lastOutput(): string {
    const text = this.#stderr.trim()
    return text === '' ? '' : `: ${text}`
  }
}

function keepTail(stream: Readable | null, onText: (text: string) => void): void {
  stream?.setEncoding('utf8').on('data', onText)
}

/** How a child ended, after its output was read to the end. */
async function ended(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    return signal ?? `exit code ${code}`
  } catch (err) {
    // The process could not be started.
    return String(err)
  }
}
