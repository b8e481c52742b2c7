import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Readable } from 'node:stream'
import type { ApiAddress, MetricsRequest, ProxyReport } from '@sandyard/proxy/supervision'
import type { Environment } from '@sandyard/kit/config/parse-config'

export interface ProxyProcessOptions {
  readonly environment: Environment
  readonly heapMib: number
  /** Receives the JSON lines of the log; they go to standard output when absent. */
  readonly onLog?: ((chunk: Buffer) => void) | undefined
}

/** Why a proxy did not listen, or how it ended. `code` is an error code of the system, such as `EADDRINUSE`. */
export class ProxyEnded extends Error {
  override readonly name = 'ProxyEnded'
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

const MAIN = fileURLToPath(import.meta.resolve('@sandyard/proxy/main'))
const STDERR_TAIL_CHARS = 2000

/** One run of the proxy as a child process. */
export class ProxyProcess {
  /** The port; rejects with ProxyEnded when the process ends before it listens. */
  readonly listening: Promise<number>
  /** Resolves when the process has ended. */
  readonly ended: Promise<ProxyEnded>
  readonly #child: ChildProcess
  readonly #answers = new Map<number, (page: string) => void>()
  #requests = 0
  #stderr = ''

  constructor({ environment, heapMib, onLog }: ProxyProcessOptions) {
    this.#child = fork(MAIN, {
      env: environment,
      execArgv: [`--max-old-space-size=${heapMib}`],
      // In its own session, so that Ctrl-C reaches the parent only: it ends both, in order.
      detached: true,
      stdio: ['ignore', onLog === undefined ? 'inherit' : 'pipe', 'pipe', 'ipc'],
    })
    if (onLog !== undefined) this.#child.stdout?.on('data', onLog)
    keepTail(this.#child.stderr, (text) => (this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_CHARS)))

    const listening = Promise.withResolvers<number>()
    let failure: ProxyEnded | undefined
    this.#child.on('message', (report: ProxyReport) => {
      if (report.kind === 'listening') listening.resolve(report.port)
      else if (report.kind === 'failed') failure = new ProxyEnded(report.message, report.code)
      else this.#answers.get(report.id)?.(report.page)
    })
    this.ended = ended(this.#child).then((how) => failure ?? new ProxyEnded(`the proxy ended: ${how}${this.#lastOutput()}`))
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

  /** Tells it where the control plane is. */
  useApi(url: string): void {
    const message: ApiAddress = { kind: 'api', url }
    // The callback gets the error that `send` would throw without one; the next process gets the address from its environment.
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
