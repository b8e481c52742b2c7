import { setTimeout as delay } from 'node:timers/promises'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { TERMINAL_KEPT_MS } from '@sandyard/dashboard-contract/limits'
import type { TerminalView } from '@sandyard/dashboard-contract/processes'
import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import { callDaemon } from '../relay/call-daemon.ts'
import { toRelayError } from '../relay/relay-error.ts'
import { ENDED, getReachable, type ReachableSandbox, type RelayParts } from '../relay/sandbox-daemon.ts'
import { InputQueue } from './input-queue.ts'
import { OutputRing } from './output-ring.ts'
import { followShell, type NewShell } from './shell-stream.ts'
import { killShell } from './kill-shell.ts'
import { shellSelector, TAG_PREFIX } from './shell-tag.ts'
import { SizeSender, type TerminalSize } from './size-sender.ts'
import { Viewers } from './viewers.ts'

export interface TerminalOptions {
  readonly terminalId: string
  readonly sandbox: ReachableSandbox
  /** Undefined: it runs already, and is found by its tag. */
  readonly fresh: NewShell | undefined
  readonly size: TerminalSize
  /** Called whenever its view may have changed. Must not throw. */
  readonly onChange: () => void
  /** Called when it has had no viewer for `TERMINAL_KEPT_MS`. Must not throw. */
  readonly onUnused: () => void
}

/** Gets the output as it comes. Must not throw. */
export interface OutputTap {
  write(bytes: Uint8Array): void
  /** Waits until there is room for more output, but never for long. Never rejects. */
  room(signal: AbortSignal): Promise<void>
  resize(cols: number, rows: number): void
  end(): void
  readonly recordingId: string
}

type Exit = NonNullable<TerminalView['exit']>

const [FIRST_RETRY_MS, LAST_RETRY_MS] = [300, 5000]
/** A stream that breaks again and again, although the sandbox runs. */
const MAX_TRIES = 20

/** A shell in a sandbox. It does not depend on who looks at it: the server reads its output until it ends. */
export class Terminal implements Disposable {
  readonly terminalId: string
  readonly teamId: string
  readonly sandboxId: string
  readonly startedAt = new Date()
  readonly user: string
  readonly viewers: Viewers
  readonly #parts: RelayParts
  readonly #options: TerminalOptions
  readonly #ring = new OutputRing()
  readonly #input: InputQueue
  readonly #size: SizeSender
  readonly #ready = Promise.withResolvers<void>()
  readonly #ending = new AbortController()
  #pid: number | null = null
  #exit: Exit | null = null
  #unused: NodeJS.Timeout | undefined
  #tap: OutputTap | undefined

  constructor(parts: RelayParts, options: TerminalOptions) {
    this.#parts = parts
    this.#options = options
    const { terminalId, sandbox, fresh, size } = options
    this.terminalId = terminalId
    this.teamId = sandbox.teamId
    this.sandboxId = sandbox.sandboxId
    this.user = fresh?.user ?? sandbox.defaultUser
    this.#size = new SizeSender(size, (latest) => this.#sendSize(latest))
    this.viewers = new Viewers(this.#ring, () => this.#viewersChanged())
    this.#input = new InputQueue((bytes) => this.#send(bytes))
    this.#ready.promise.catch(() => undefined)
    this.#viewersChanged()
    void this.#run()
  }

  /** Resolves when the shell runs. @throws AppError when it did not start */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get exit(): Exit | null {
    return this.#exit
  }

  /** The server does not follow it any more. */
  get isForgotten(): boolean {
    return this.#ending.signal.aborted
  }

  get hasOutput(): boolean {
    return this.#ring.end > 0
  }

  get tap(): OutputTap | undefined {
    return this.#tap
  }

  get size(): TerminalSize {
    return this.#size.current
  }

  get view(): TerminalView {
    return {
      terminalId: this.terminalId,
      sandboxId: this.sandboxId,
      title: `${this.user}@${this.sandboxId.slice(0, 8)}`,
      user: this.user,
      pid: this.#pid,
      ...this.size,
      startedAt: this.startedAt.toISOString(),
      viewers: this.viewers.count,
      recordingId: this.#tap?.recordingId ?? null,
      exit: this.#exit,
    }
  }

  /** False when too much input waits. */
  type(bytes: Uint8Array): boolean {
    return this.#exit !== null || this.#input.push(bytes)
  }

  /**
   * Replaces the tap; the one before ends.
   *
   * @param isWhole - it also gets what was printed before
   */
  record(tap: OutputTap | undefined, { isWhole = false } = {}): void {
    this.#tap?.end()
    this.#tap = tap
    if (tap !== undefined && this.hasOutput) {
      if (isWhole) tap.write(this.#ring.read(this.#ring.start, this.#ring.end - this.#ring.start))
      // What is on the screen is not in the output from now on: programs print it again.
      else this.resize(this.size, { redraw: true })
    }
    this.#options.onChange()
  }

  /** With `redraw` programs print their screen again, also when the size stays. */
  resize(size: TerminalSize, options: { readonly redraw?: boolean } = {}): void {
    if (this.#exit === null && this.#size.change(size, options)) this.#tap?.resize(size.cols, size.rows)
  }

  /** Ends the shell. @throws AppError */
  async kill(signal: AbortSignal): Promise<void> {
    if (this.#exit !== null) return
    const sandbox = await getReachable(this.#parts, this.teamId, this.sandboxId)
    await killShell(sandbox, this.terminalId, signal)
  }

  async #sendSize(size: TerminalSize): Promise<void> {
    const process = shellSelector(this.terminalId)
    await this.#call(({ processes }, options) => processes.update({ process, pty: { size } }, options))
  }

  async #send(bytes: Uint8Array): Promise<void> {
    const process = shellSelector(this.terminalId)
    await this.#call(({ processes }, options) => processes.sendInput({ process, input: { input: { case: 'pty', value: bytes } } }, options))
  }

  async #call(call: Parameters<typeof callDaemon>[2]): Promise<void> {
    await callDaemon(this.#options.sandbox.daemon, { signal: this.#ending.signal }, call)
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#ending
    let retryMs = FIRST_RETRY_MS
    let tries = 0
    let { fresh } = this.#options
    while (!signal.aborted && this.#exit === null) {
      try {
        const sandbox = fresh === undefined ? await this.#sameSandbox() : this.#options.sandbox
        for await (const event of followShell(sandbox, TAG_PREFIX + this.terminalId, fresh, signal)) {
          if (event.kind === 'start') this.#started(event.pid)
          if (event.kind === 'end') return this.#end(event.exitCode, event.status)
          if (event.kind !== 'terminal') continue
          ;[retryMs, tries] = [FIRST_RETRY_MS, 0]
          this.#ring.write(event.bytes)
          this.#tap?.write(event.bytes)
          await Promise.all([this.viewers.sent(signal), this.#tap?.room(signal)])
        }
      } catch (err) {
        if (signal.aborted) return
        const reason = this.#reasonToEnd(err, tries)
        if (reason !== undefined) return this.#end(null, reason, err)
      }
      fresh = undefined
      tries += 1
      await delay(retryMs, undefined, { signal }).catch(() => undefined)
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
    }
  }

  async #sameSandbox(): Promise<ReachableSandbox> {
    const sandbox = await getReachable(this.#parts, this.teamId, this.sandboxId)
    if (sandbox.incarnation === this.#options.sandbox.incarnation) return sandbox
    throw new AppError('conflict', 'The sandbox was started again', { reason: ENDED })
  }

  /** Undefined: it may be back, since the sandbox is paused, or its connection was lost. */
  #reasonToEnd(err: unknown, tries: number): string | undefined {
    if (this.#pid === null) return 'The shell could not be started'
    if (err instanceof DaemonCallError && err.code === 'not_found') return 'The shell has ended'
    if (isAppError(err) && (err.kind === 'not_found' || err.reason === ENDED)) return 'The sandbox has ended'
    if (isAppError(err, 'conflict')) return undefined
    return tries < MAX_TRIES ? undefined : 'The connection to the shell was lost'
  }

  #started(pid: number): void {
    this.#pid = pid
    this.#ready.resolve()
    this.#options.onChange()
  }

  #end(exitCode: number | null, text: string, err?: unknown): void {
    this.#exit = { at: new Date().toISOString(), exitCode, text }
    this.#input.clear()
    this.#tap?.end()
    this.#tap = undefined
    this.#ready.reject(toRelayError(err) ?? new AppError('unavailable', text))
    this.viewers.end({ exitCode, text })
    this.#options.onChange()
  }

  #viewersChanged(): void {
    clearTimeout(this.#unused)
    if (this.viewers.count === 0) this.#unused = setTimeout(() => this.#options.onUnused(), TERMINAL_KEPT_MS)
    this.#options.onChange()
  }

  /** Forgets the shell, which goes on. */
  [Symbol.dispose](): void {
    clearTimeout(this.#unused)
    this.#ending.abort()
    this.#tap?.end()
    this.#tap = undefined
    this.viewers[Symbol.dispose]()
  }
}
