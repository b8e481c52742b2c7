import { PassThrough, type Duplex } from 'node:stream'
import { createInterface } from 'node:readline'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type Docker from 'dockerode'
import { guardContainer, startGuardContainer } from './guard-container.ts'

/** The engine's host, as only something that runs on it can know it. */
export interface HostFacts {
  readonly addresses: readonly string[]
  readonly hasIpv6: boolean
  /** The most open files that the engine can give to a process. */
  readonly maxOpenFiles: number
}

/** A network namespace is named by the first process in it and the container that this process must belong to. */
export interface NamespaceRef {
  readonly pid: number
  readonly containerId: string
}

export interface GuardOptions {
  readonly installation: string
  readonly image: string
  readonly log: Logger
  readonly onHost: (host: HostFacts) => void
}

/** Each is a few processes in the guard, which may have so many only. */
const APPLIED_AT_ONCE = 16
/** Far longer than any ruleset takes on a busy host. */
const ANSWER_TIMEOUT_MS = 15_000
const START_TIMEOUT_MS = 30_000
const END_TIMEOUT_MS = 3000

/**
 * A running guard of this process, and the requests to it. `lost` resolves when it is gone; then every request fails with
 * `unavailable`, and another guard has to be started.
 */
export class Guard implements AsyncDisposable {
  readonly lost: Promise<void>
  readonly #stream: Duplex
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #options: GuardOptions
  readonly #limit = new Semaphore(APPLIED_AT_ONCE)
  #nextId = 1
  #isLost = false

  private constructor(docker: Docker, stream: Duplex, options: GuardOptions) {
    this.#stream = stream
    this.#options = options
    const output = new PassThrough()
    const complaints = new PassThrough()
    docker.modem.demuxStream(stream, output, complaints)
    createInterface({ input: output }).on('line', (line) => this.#read(line))
    createInterface({ input: complaints }).on('line', (line) => options.log.warn({ line }, 'the egress guard complains'))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.lost = promise
    this.#ready.promise.catch(() => undefined)
    // The engine ends the stream when the guard has ended; a connection that breaks is an error and a close.
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
   * Puts `rules` in force in a namespace, all at once. Applying the same twice is harmless.
   *
   * @throws AppError `unavailable` when the guard is gone, `internal` when the rules were refused
   */
  async apply({ pid, containerId }: NamespaceRef, rules: string): Promise<void> {
    await this.#limit.run(() => this.#request(pid, containerId, rules))
  }

  /** Ends the guard; its container removes itself. One that does not end by itself loses its connection, which ends it as well. */
  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#stream.destroy(), END_TIMEOUT_MS)
    this.#stream.end()
    await this.lost
    clearTimeout(timer)
  }

  async #request(pid: number, containerId: string, rules: string): Promise<void> {
    if (this.#isLost) throw guardIsGone()
    const id = String(this.#nextId++)
    const answer = Promise.withResolvers<void>()
    this.#waiting.set(id, answer)
    const timer = setTimeout(() => answer.reject(new AppError('unavailable', 'The egress guard does not answer.')), ANSWER_TIMEOUT_MS)
    try {
      this.#stream.write(`${id} apply ${pid} ${containerId} ${rules.replaceAll('\n', ' ')}\n`)
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
    if (outcome === 'ok') return this.#waiting.get(first)?.resolve()
    this.#waiting
      .get(first)
      ?.reject(new AppError('internal', 'The egress rules could not be put in force.', { cause: new Error(reason.join(' ')) }))
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
