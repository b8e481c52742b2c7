import { PassThrough, type Duplex } from 'node:stream'
import { createInterface } from 'node:readline'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { RefusedPackets, RuntimeVitals } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { guardContainer, startGuardContainer } from './guard-container.ts'

/** Facts of the engine's host. Only a process on the host can read them. */
export interface HostFacts {
  readonly addresses: readonly string[]
  readonly hasIpv6: boolean
  /** The highest number of open files that the engine can allow a process. */
  readonly maxOpenFiles: number
}

/** What a guard reports unasked. */
export interface GuardListeners {
  readonly onHost: (host: HostFacts) => void
  /** A table with this name was deleted. */
  readonly onLost: (table: string) => void
  readonly onRefused: (refused: readonly RefusedPackets[]) => void
}

export interface GuardOptions extends GuardListeners {
  readonly installation: string
  readonly image: string
  readonly log: Logger
}

/** The port of `bridge` whose other end has the hardware address, and the IPv4 address there. */
export interface PortRef {
  readonly bridge: string
  readonly mac: string
  readonly address: string
}

/** What `list` can name. The answer has no elements of the sets of a table, because policies may have many, and no rules of a chain. */
export type Listed =
  | readonly [kind: 'table', family: string, table: string]
  | readonly [kind: 'set' | 'map' | 'chain', family: string, table: string, name: string]

interface ApplyOptions {
  /** Undefined for work of the process itself. */
  readonly owner?: string | undefined
}

/** The requests of a guard (docker/guard/guard.py). */
type Request =
  | ({ readonly apply: string } & Partial<PortRef>)
  | { readonly list: readonly Listed[] }
  | { readonly route: string; readonly mark: number }
  | { readonly unroute: string }
  | { readonly survey: true }
  | { readonly room: true }
  | 'ping'

interface Message {
  readonly id?: number
  readonly error?: string
  readonly port?: string
  readonly lists?: readonly (readonly unknown[] | null)[]
  readonly host?: { readonly addresses: readonly string[]; readonly ipv6: boolean; readonly maxOpenFiles: number | null }
  readonly lost?: string
  readonly names?: readonly string[]
  readonly links?: readonly string[]
  readonly disk?: { readonly size: number; readonly free: number }
  readonly memory?: { readonly total: number; readonly available: number } | null
  readonly refused?: readonly RefusedPackets[]
}

/** The guard ends itself when a request takes 10 seconds. */
const ANSWER_TIMEOUT_MS = 15_000
/** A working guard answers a ping at once, after the requests before it. */
const PING_TIMEOUT_MS = 3000
const START_TIMEOUT_MS = 30_000
const END_TIMEOUT_MS = 3000
/** The one that the guard serves, and the next: what goes first waits for these only. */
const IN_FLIGHT = 2
/** More than starts and changes can wait at once. */
const MAX_WAITING = 4096

/**
 * A running guard of this process, and the requests to it. Owners (the addresses of sandboxes) take turns, and the requests of one are served in
 * their order; those of the process itself go first. `lost` resolves when the guard has ended; then every request fails with `unavailable`, and
 * another guard must be started.
 */
export class Guard implements AsyncDisposable {
  readonly lost: Promise<void>
  readonly #stream: Duplex
  readonly #waiting = new Map<number, PromiseWithResolvers<Message>>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #options: GuardOptions
  /** The guard serves in order: the deadline of a request must not count the wait for many others. */
  readonly #turns = new FairQueue({
    perOwner: 1,
    inAll: IN_FLIGHT,
    waitingInAll: MAX_WAITING,
    onFull: () => new AppError('unavailable', 'Too many changes of egress rules wait for the guard.'),
  })
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
   * Puts `rules` in force, in one transaction. With a port, `@PORT@` in them is its name, which is returned.
   *
   * @throws AppError `unavailable` when the guard has ended, `deadline_exceeded`, `internal` when the rules were refused or the port is absent
   */
  async apply(rules: string, options?: ApplyOptions): Promise<void>
  async apply(rules: string, options: ApplyOptions & { readonly port: PortRef }): Promise<string>
  async apply(rules: string, { owner, port }: ApplyOptions & { readonly port?: PortRef } = {}): Promise<string | void> {
    return (await this.#request({ apply: rules, ...port }, owner)).port
  }

  /** nftables' JSON of each one, null for an absent one. */
  async list(listed: readonly Listed[], owner?: string): Promise<readonly (readonly unknown[] | null)[]> {
    return (await this.#request({ list: listed }, owner)).lists ?? []
  }

  /** Drops what comes from a bridge without the mark, so that nothing is forwarded when the tables are gone. */
  async dropUnmarked(bridge: string, mark: number): Promise<void> {
    await this.#request({ route: bridge, mark })
  }

  /** Undoes `dropUnmarked`; also when nothing is to be undone. */
  async passUnmarked(bridge: string): Promise<void> {
    await this.#request({ unroute: bridge })
  }

  /** The names of all tables and interfaces of the host. */
  async survey(): Promise<{ readonly tables: readonly string[]; readonly interfaces: readonly string[] }> {
    const { names = [], links = [] } = await this.#request({ survey: true })
    return { tables: names, interfaces: links }
  }

  /** The file system with the files of the engine, on which the guard's container is, and the memory of the host. */
  async room(): Promise<Pick<RuntimeVitals, 'disk' | 'memory'>> {
    const { disk, memory } = await this.#request({ room: true })
    return {
      disk: disk && { sizeBytes: disk.size, freeBytes: disk.free },
      memory: memory ? { totalBytes: memory.total, availableBytes: memory.available } : undefined,
    }
  }

  /** Ends the guard; its container removes itself. If it does not end by itself, its connection is closed, which ends it too. */
  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#stream.destroy(), END_TIMEOUT_MS)
    this.#stream.end()
    await this.lost
    clearTimeout(timer)
  }

  async #request(request: Request, owner?: string): Promise<Message> {
    const leave = await this.#turns.enter(owner)
    try {
      return await this.#ask(request, ANSWER_TIMEOUT_MS)
    } catch (err) {
      // A guard that does not answer this either is treated as ended, even if its container runs.
      if (err instanceof AppError && err.kind === 'deadline_exceeded')
        await this.#ask('ping', PING_TIMEOUT_MS).catch(() => this.#stream.destroy())
      throw err
    } finally {
      leave()
    }
  }

  async #ask(request: Request, timeoutMs: number): Promise<Message> {
    if (this.#isLost) throw guardIsGone()
    const id = this.#nextId++
    const answer = Promise.withResolvers<Message>()
    this.#waiting.set(id, answer)
    const timer = setTimeout(
      () => answer.reject(new AppError('deadline_exceeded', 'The egress rules were not in force in time.')),
      timeoutMs,
    )
    try {
      this.#stream.write(`${JSON.stringify(request === 'ping' ? { id } : { id, ...request })}\n`)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  #read(line: string): void {
    const message = JSON.parse(line) as Message
    if (message.host !== undefined) {
      const { addresses, ipv6, maxOpenFiles } = message.host
      this.#options.onHost({ addresses, hasIpv6: ipv6, maxOpenFiles: maxOpenFiles ?? Infinity })
      return this.#ready.resolve()
    }
    if (message.lost !== undefined) return this.#options.onLost(message.lost)
    if (message.refused !== undefined) return this.#options.onRefused(message.refused)
    const request = this.#waiting.get(message.id ?? 0)
    if (message.error === undefined) return request?.resolve(message)
    request?.reject(new AppError('internal', 'The egress rules could not be put in force.', { cause: new Error(message.error) }))
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
