import { PassThrough, type Duplex } from 'node:stream'
import { createInterface } from 'node:readline'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type Docker from 'dockerode'
import pLimit from 'p-limit'
import { guardContainer, startGuardContainer } from './guard-container.ts'

/** Facts of the engine's host. Only a process on the host can read them. */
export interface HostFacts {
  readonly addresses: readonly string[]
  readonly hasIpv6: boolean
  /** The highest number of open files that the engine can allow a process. */
  readonly maxOpenFiles: number
}

/** A network namespace, identified by its first process and by the container that this process must belong to. */
export interface NamespaceRef {
  readonly pid: number
  readonly containerId: string
}

export interface GuardOptions {
  readonly installation: string
  readonly image: string
  readonly log: Logger
  readonly onHost: (host: HostFacts) => void
  /** The deadline of a request. */
  readonly answerTimeoutMs?: number
}

/** A request needs a few processes in the guard, whose number is limited. */
const APPLIED_AT_ONCE = 16
/** The guard itself ends a ruleset after 10 seconds. */
const ANSWER_TIMEOUT_MS = 15_000
/** A working guard answers a ping at once. */
const PING_TIMEOUT_MS = 3000
const START_TIMEOUT_MS = 30_000
const END_TIMEOUT_MS = 3000

/**
 * A running guard of this process, and the requests to it. `lost` resolves when the guard has ended; then every request fails with
 * `unavailable`, and another guard must be started. A request that hangs fails alone: the guard stays while it answers a ping.
 */
export class Guard implements AsyncDisposable {
  readonly lost: Promise<void>
  readonly #stream: Duplex
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #options: GuardOptions
  readonly #limit = pLimit(APPLIED_AT_ONCE)
  #nextId = 1
  #isLost = false

  private constructor(docker: Docker, stream: Duplex, options: GuardOptions) {
    this.#stream = stream
    this.#options = options
    const output = new PassThrough()
    const errors = new PassThrough()
    docker.modem.demuxStream(stream, output, errors)
    createInterface({ input: output }).on('line', (line) => this.#read(line))
    createInterface({ input: errors }).on('line', (line) => options.log.warn({ line }, 'the egress guard printed an error'))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.lost = promise
    this.#ready.promise.catch(() => undefined)
    // The engine ends the stream when the guard has ended; a broken connection emits an error and a close.
    for (const event of ['end', 'close', 'error']) stream.on(event, () => this.#lose(resolve))
  }

  /** @throws AppError `unavailable` when it does not start */
  static async start(docker: Docker, options: GuardOptions): Promise<Guard> {
    const { stream } = await startGuardContainer(docker, guardContainer(options.installation, options.image))
    const guard = new Guard(docker, stream, options)
    const timer = setTimeout(() => guard.#stream.destroy(), START_TIMEOUT_MS)
    try {
      await guard.#ready.promise
      return guard
    } finally {
      clearTimeout(timer)
    }
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /**
   * Puts `rules` in force in a namespace, in one transaction. It is safe to apply the same rules twice.
   *
   * @throws AppError `unavailable` when the guard has ended, `deadline_exceeded`, `internal` when the rules were refused
   */
  async apply({ pid, containerId }: NamespaceRef, rules: string): Promise<void> {
    const { answerTimeoutMs = ANSWER_TIMEOUT_MS } = this.#options
    try {
      await this.#limit(() => this.#request(`apply ${pid} ${containerId} ${rules.replaceAll('\n', ' ')}`, answerTimeoutMs))
    } catch (err) {
      if (isAppError(err, 'deadline_exceeded')) await this.#ping()
      throw err
    }
  }

  /** Ends the guard; its container removes itself. If it does not end by itself, its connection is closed, which ends it too. */
  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#stream.destroy(), END_TIMEOUT_MS)
    this.#stream.end()
    await this.lost
    clearTimeout(timer)
  }

  /** A guard that does not answer this request is treated as ended, even if its container runs. */
  async #ping(): Promise<void> {
    await this.#request('ping', PING_TIMEOUT_MS).catch(() => this.#stream.destroy())
  }

  async #request(text: string, timeoutMs: number): Promise<void> {
    if (this.#isLost) throw guardIsGone()
    const id = String(this.#nextId++)
    const answer = Promise.withResolvers<void>()
    this.#waiting.set(id, answer)
    const timer = setTimeout(() => answer.reject(isLate()), timeoutMs)
    try {
      this.#stream.write(`${id} ${text}\n`)
      await answer.promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  #read(line: string): void {
    const [first = '', ...rest] = line.split(' ')
    if (first === 'host') {
      const [addresses = '', ipv6, files] = rest
      this.#options.onHost({
        addresses: addresses.split(',').filter((address) => address !== ''),
        hasIpv6: ipv6 === '1',
        maxOpenFiles: files === 'unlimited' ? Infinity : Number(files),
      })
      return this.#ready.resolve()
    }
    const [outcome, ...reason] = rest
    const request = this.#waiting.get(first)
    if (outcome === 'ok') return request?.resolve()
    if (outcome === 'late') return request?.reject(isLate())
    const cause = new Error(reason.join(' '))
    request?.reject(new AppError('internal', 'The egress rules could not be put in force.', { cause }))
  }

  #lose(resolve: () => void): void {
    this.#isLost = true
    this.#stream.destroy()
    for (const { reject } of this.#waiting.values()) reject(guardIsGone())
    this.#ready.reject(guardIsGone())
    resolve()
  }
}

function guardIsGone(): AppError {
  return new AppError('unavailable', 'The egress guard has ended.', { reason: 'guard_lost' })
}

function isLate(): AppError {
  return new AppError('deadline_exceeded', 'The egress rules were not in force in time.')
}
