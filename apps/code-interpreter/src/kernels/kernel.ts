import { KernelConnection } from '@jupyterlab/services/lib/kernel/default.js'
import type { IExecuteReplyMsg, IInputRequestMsg, IIOPubMessage } from '@jupyterlab/services/lib/kernel/messages.js'
import { interruptKernel, restartKernel, shutdownKernel, startNew } from '@jupyterlab/services/lib/kernel/restapi.js'
import type { ServerConnection } from '@jupyterlab/services/lib/serverconnection.js'
import { resultWithin, within } from '@sandyard/kit/async/within'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { toKernelName } from '../languages/languages.ts'
import { KernelVariables } from '../variables/kernel-variables.ts'

const START_TIMEOUT_MS = 60_000
const CALL_TIMEOUT_MS = 20_000
/** How long a cell may go on after an interrupt before the kernel is started again. */
const INTERRUPT_GRACE_MS = 5000
/** After a restart the connection holds requests back until the kernel has answered, or this long. */
const INFO_TIMEOUT_MS = 30_000

const RESULTS: ReadonlySet<string> = new Set(['execute_result', 'error'])
/** Of those that may come late. An error during the fence may be its own. */
const LATE: ReadonlySet<string> = new Set(['execute_result', 'display_data', 'stream'])

export interface KernelOptions {
  readonly language: string
  readonly directory: string
  /** The variables of this process, which the Jupyter server and its kernels inherit. */
  readonly environment: Environment
  readonly settings: ServerConnection.ISettings
  readonly log: Logger
}

/** Why code was not run. */
export interface Failure {
  readonly name: string
  readonly value: string
  readonly traceback: string
}

/** Why a cell has not come to its end. */
export class CellLost extends Error {
  override readonly name = 'CellLost'
}

/** A running kernel of the Jupyter server and the connection to it. It runs one cell at a time. */
export class Kernel {
  readonly variables: KernelVariables
  /** Whether nothing has run in its process yet. Set to false by the owner, and to true by each restart. */
  isFresh = true
  readonly #connection: KernelConnection
  readonly #log: Logger
  #isLost = false

  private constructor(connection: KernelConnection, { environment, log }: KernelOptions) {
    this.variables = new KernelVariables(environment)
    this.#connection = connection
    this.#log = log
    connection.statusChanged.connect((_, status) => {
      if (status === 'restarting' || status === 'autorestarting') this.#forget()
      if (status === 'dead') this.#isLost = true
    })
    connection.disposed.connect(() => (this.#isLost = true))
  }

  /** @throws AppError `unavailable` when the Jupyter server cannot start it, `deadline_exceeded` when it does not answer in time */
  static async start(options: KernelOptions): Promise<Kernel> {
    const what = `the start of a ${options.language} kernel`
    try {
      return await within({ what, timeoutMs: START_TIMEOUT_MS }, () => Kernel.#connect(options))
    } catch (err) {
      throw isAppError(err) ? err : new AppError('unavailable', `${what} failed`, { cause: err })
    }
  }

  static async #connect(options: KernelOptions): Promise<Kernel> {
    const { language, directory, settings } = options
    // The type knows only the name; the path is the working directory.
    const model = await startNew({ name: toKernelName(language), path: directory } as Parameters<typeof startNew>[0], settings)
    const connection = new KernelConnection({ model, serverSettings: settings, handleComms: false, kernelInfoTimeout: INFO_TIMEOUT_MS })
    await connection.info
    return new Kernel(connection, options)
  }

  /** Whether it will never run a cell again. */
  get isLost(): boolean {
    return this.#isLost
  }

  /**
   * Runs code to its end. When `signal` aborts, the cell is interrupted; one that goes on is ended with the kernel, which starts again.
   * Returns a failure that came with no message: Deno tells errors of syntax in its reply alone.
   *
   * @throws CellLost when the kernel or the connection ends first
   */
  async run(code: string, { isSilent = false, onMessage, signal, fence }: RunOptions): Promise<Failure | undefined> {
    let hasResult = false
    const hear = (message: IIOPubMessage): void => {
      hasResult ||= RESULTS.has(message.header.msg_type)
      onMessage?.(message)
    }
    const cell = this.#request(code, { isSilent, disposeOnDone: fence === undefined, onMessage: hear })
    try {
      const reply = await this.#untilDone(cell, signal)
      if (hasResult || signal?.aborted === true) return undefined
      const failure = toFailure(reply)
      if (fence === undefined) return failure
      // What comes late may name either request as its parent.
      const passOn = (message: IIOPubMessage): void => (LATE.has(message.header.msg_type) ? hear(message) : undefined)
      await this.#untilDone(this.#request(fence, { isSilent: true, disposeOnDone: true, onMessage: passOn }), signal)
      return hasResult ? undefined : failure
    } finally {
      cell.dispose()
    }
  }

  /** Starts the process again, with no state. Cells that run are lost. */
  async restart(): Promise<void> {
    this.#forget()
    await within({ what: 'the restart of the kernel', timeoutMs: START_TIMEOUT_MS }, () => this.#connection.restart())
  }

  /** Ends the process. Cells that run are lost. */
  async end(): Promise<void> {
    this.#isLost = true
    const { id, serverSettings } = this.#connection
    this.#connection.dispose()
    await within({ what: 'the end of the kernel', timeoutMs: CALL_TIMEOUT_MS }, () => shutdownKernel(id, serverSettings))
  }

  /** Ends the connection to a kernel whose server is gone. */
  disconnect(): void {
    this.#isLost = true
    this.#connection.dispose()
  }

  #request(code: string, { isSilent, disposeOnDone, onMessage }: RequestOptions): Execution {
    const content = { code, silent: isSilent, store_history: !isSilent, allow_stdin: false, stop_on_error: false }
    const execution = this.#connection.requestExecute(content, disposeOnDone)
    execution.onIOPub = (message) => onMessage(message)
    // The kernel of R sends input requests even with `allow_stdin: false`. The answer is an empty line.
    execution.onStdin = ({ header }) => this.#connection.sendInputReply({ status: 'ok', value: '' }, header as IInputRequestMsg['header'])
    return execution
  }

  async #untilDone(execution: Execution, signal: AbortSignal | undefined): Promise<IExecuteReplyMsg | undefined> {
    const ended = execution.done.catch((err: unknown) => {
      throw new CellLost('the kernel has ended', { cause: err })
    })
    ended.catch(() => undefined)
    let stopping: Promise<void> | undefined
    const stop = (): void => {
      stopping ??= this.#stop(ended)
    }
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted === true) stop()
    try {
      return await ended
    } finally {
      signal?.removeEventListener('abort', stop)
      // An interrupt that is on its way must not come to the next cell.
      await stopping
    }
  }

  #forget(): void {
    this.variables.reset()
    this.isFresh = true
  }

  async #stop(ended: Promise<unknown>): Promise<void> {
    const { id, serverSettings } = this.#connection
    const hasEnded = ended.then(
      () => true,
      () => true,
    )
    try {
      await resultWithin(INTERRUPT_GRACE_MS, interruptKernel(id, serverSettings))
      if ((await resultWithin(INTERRUPT_GRACE_MS, hasEnded)) === true || this.#isLost) return
      this.#log.warn({ kernel: id }, 'a cell goes on after an interrupt: its kernel is started again')
      await this.restart()
    } catch (err) {
      this.#log.error({ err, kernel: id }, 'a cell could not be interrupted')
      await resultWithin(CALL_TIMEOUT_MS, restartKernel(id, serverSettings)).catch(() => undefined)
      this.disconnect()
    }
  }
}

function toFailure(reply: IExecuteReplyMsg | undefined): Failure | undefined {
  if (reply?.content.status !== 'error') return undefined
  const { ename, evalue, traceback } = reply.content
  return { name: ename, value: evalue, traceback: traceback.join('\n') }
}

interface RunOptions {
  /** Without output, without a place in the history and without a count. */
  readonly isSilent?: boolean
  readonly onMessage?: (message: IIOPubMessage) => void
  readonly signal?: AbortSignal
  /** Code without a result for kernels that may send the result of a cell after its end: it runs after a cell that has none yet. */
  readonly fence?: string | undefined
}

interface RequestOptions {
  readonly isSilent: boolean
  readonly disposeOnDone: boolean
  readonly onMessage: (message: IIOPubMessage) => void
}

type Execution = ReturnType<KernelConnection['requestExecute']>
