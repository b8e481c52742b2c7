import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Bridge } from '../network/sandbox-network.ts'
import { compileFrameRules, compileRules, type EgressRules, type NetworkPort } from './compile-rules.ts'
import type { Guard, HostFacts, NamespaceRef } from './guard.ts'

/** What the operator decided, in IPv4 networks or addresses. */
export interface EgressSettings {
  readonly openPrivate: readonly string[]
  readonly controlNetworks: readonly string[]
  /** Where the proxy and the api connect from; empty means the host. */
  readonly ingressSources: readonly string[]
}

/** A running sandbox, as far as its rules depend on it. */
export interface Namespace extends NamespaceRef {
  readonly resolvers: readonly string[]
}

export interface EgressControlOptions {
  readonly settings: EgressSettings
  readonly log: Logger
  readonly startGuard: (onHost: (host: HostFacts) => void) => Promise<Guard>
  readonly readResolvers: () => Promise<readonly string[]>
}

/** Keeps one guard running and puts the default egress rules in force through it. */
export class EgressControl implements AsyncDisposable {
  readonly #options: EgressControlOptions
  readonly #flight = new SingleFlight<'start', Guard>()
  #guard: Guard | undefined
  #host: HostFacts = { addresses: [], hasIpv6: false, maxOpenFiles: 0 }
  #resolvers: readonly string[] = []
  #onHostChange = (): void => undefined
  #isDisposed = false

  constructor(options: EgressControlOptions) {
    this.#options = options
  }

  /** Starts the guard and learns about the host. To be called once, before anything else. */
  async open(): Promise<void> {
    try {
      await Promise.all([this.#runningGuard(), this.#learnResolvers()])
    } catch (err) {
      await this[Symbol.asyncDispose]()
      throw err
    }
  }

  /** Where sandboxes that start now look names up. */
  get resolvers(): readonly string[] {
    return this.#resolvers
  }

  get host(): HostFacts {
    return this.#host
  }

  /** `listener` is called when the host has got other addresses: the rules of every running sandbox are out of date then. */
  onHostChange(listener: () => void): void {
    this.#onHostChange = listener
  }

  /**
   * Returns once the rules are in force. A guard that is gone is replaced, once.
   *
   * @throws AppError when they are not: the caller must not let the sandbox run
   */
  enforce(namespace: Namespace, bridge: Bridge): Promise<void> {
    return this.#apply(namespace, () => compileRules(this.#rules(namespace, bridge)))
  }

  /**
   * Returns once the same rules bind raw sockets too. The sandbox needs its network before.
   *
   * @throws AppError `failed_precondition` where the host's kernel cannot do it
   */
  async confine(namespace: Namespace, bridge: Bridge, port: NetworkPort): Promise<void> {
    try {
      await this.#apply(namespace, () => compileFrameRules(this.#rules(namespace, bridge), port))
    } catch (err) {
      if (!isAppError(err, 'internal')) throw err
      const sentence = 'The kernel of this host cannot keep the steps of a Dockerfile within the egress rules: Linux 5.16 or newer can.'
      throw new AppError('failed_precondition', sentence, { cause: err })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await this.#discard()
  }

  #rules({ resolvers }: Namespace, { subnet, gateway }: Bridge): EgressRules {
    const { openPrivate, controlNetworks, ingressSources } = this.#options.settings
    return {
      resolvers,
      closed: [...this.#host.addresses, ...controlNetworks, subnet],
      openPrivate,
      ingressSources: ingressSources.length > 0 ? ingressSources : [gateway],
    }
  }

  async #apply(namespace: NamespaceRef, compile: () => string): Promise<void> {
    try {
      await (await this.#runningGuard()).apply(namespace, compile())
    } catch (err) {
      if (!isAppError(err, 'unavailable') || this.#isDisposed) throw err
      this.#options.log.warn({ err }, 'the egress guard is replaced')
      await this.#discard()
      await (await this.#runningGuard()).apply(namespace, compile())
    }
  }

  async #runningGuard(): Promise<Guard> {
    if (this.#guard !== undefined && !this.#guard.isLost) return this.#guard
    return this.#flight.run('start', async () => {
      const guard = await this.#options.startGuard((host) => this.#learn(host))
      this.#guard = guard
      if (this.#isDisposed) await this.#discard()
      void guard.lost.then(() => this.#replaceLost(guard))
      return guard
    })
  }

  /** Changes of the host's addresses go unnoticed without a guard, so a lost one is replaced before it is needed. */
  async #replaceLost(guard: Guard): Promise<void> {
    if (this.#isDisposed || this.#guard !== guard) return
    await this.#runningGuard().catch((err: unknown) => this.#options.log.error({ err }, 'the egress guard could not be replaced'))
  }

  async #discard(): Promise<void> {
    const guard = this.#guard
    this.#guard = undefined
    await guard?.[Symbol.asyncDispose]()
  }

  #learn(host: HostFacts): void {
    const before = this.#host.addresses.join()
    this.#host = host
    if (before === '' || before === host.addresses.join()) return
    this.#onHostChange()
    this.#learnResolvers().catch((err: unknown) => this.#options.log.warn({ err }, 'the resolvers of the host could not be read'))
  }

  /** Another network often has other resolvers. */
  async #learnResolvers(): Promise<void> {
    this.#resolvers = await this.#options.readResolvers()
  }
}
