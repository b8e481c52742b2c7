import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Bridge } from '../network/sandbox-network.ts'
import { compileFrameRules, compileRules, type EgressRules, type NetworkPort } from './compile-rules.ts'
import type { Guard, HostFacts, NamespaceRef } from './guard.ts'

/** The operator's settings, as IPv4 networks or addresses. */
export interface EgressSettings {
  readonly openPrivate: readonly string[]
  readonly controlNetworks: readonly string[]
  /** Where the proxy and the api connect from; the host when empty. */
  readonly ingressSources: readonly string[]
}

/** The facts of a running sandbox that its rules depend on. */
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

  /** Starts the guard and reads the facts of the host. Must be called once, before any other method. */
  async open(): Promise<void> {
    try {
      await Promise.all([this.#runningGuard(), this.#learnResolvers()])
    } catch (err) {
      await this[Symbol.asyncDispose]()
      throw err
    }
  }

  /** The resolvers of sandboxes that start now. */
  get resolvers(): readonly string[] {
    return this.#resolvers
  }

  get host(): HostFacts {
    return this.#host
  }

  /** `listener` is called when the addresses of the host have changed: then the rules of every running sandbox are out of date. */
  onHostChange(listener: () => void): void {
    this.#onHostChange = listener
  }

  /**
   * Returns when the rules are in force. A guard that ends meanwhile is replaced once.
   *
   * @throws AppError when they are not in force: the caller must not let the sandbox run
   */
  enforce(namespace: Namespace, bridge: Bridge): Promise<void> {
    return this.#apply(namespace, () => compileRules(this.#rules(namespace, bridge)))
  }

  /**
   * Returns when the same rules apply to raw sockets too. The sandbox must have its network before.
   *
   * @throws AppError `failed_precondition` when the host's kernel does not support it
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
    const guard = await this.#runningGuard()
    try {
      await guard.apply(namespace, compile())
    } catch (err) {
      if (!guard.isLost || this.#isDisposed) throw err
      this.#options.log.warn({ err }, 'the egress guard ended during a request; a new guard repeats it')
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

  /** A lost guard is replaced at once, because only a guard reports changed addresses of the host. */
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

  /** A changed network often has other resolvers. */
  async #learnResolvers(): Promise<void> {
    this.#resolvers = await this.#options.readResolvers()
  }
}
