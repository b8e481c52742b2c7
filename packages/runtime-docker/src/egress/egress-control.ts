import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { EgressPolicy } from '@sandyard/runtime/types'
import type { Bridge } from '../network/sandbox-network.ts'
import { bridgeName } from '../labels.ts'
import { compileBase, compileDeletion, installationOf, PASSED, tableName, type BaseRules } from './base-rules.ts'
import type { Guard, GuardListeners, HostFacts } from './guard.ts'
import { readRegistration } from './read-registration.ts'
import { compilePolicy, compileRegistration, compileRemoval, type Registration, type SandboxRules, type Station } from './sandbox-rules.ts'

/** The operator's settings, as IPv4 networks or addresses. */
export interface EgressSettings {
  readonly openPrivate: readonly string[]
  readonly controlNetworks: readonly string[]
  /** Where the proxy and the api connect from; the host when empty. */
  readonly ingressSources: readonly string[]
  readonly gateway: BaseRules['gateway']
  readonly limits: BaseRules['limits']
}

export interface EgressControlOptions {
  readonly installation: string
  readonly settings: EgressSettings
  readonly log: Logger
  /** The network of the sandboxes; it is another one after an operator has pruned it. */
  readonly bridge: () => Promise<Bridge>
  readonly startGuard: (listeners: GuardListeners) => Promise<Guard>
  readonly readResolvers: () => Promise<readonly string[]>
  readonly onRefused: GuardListeners['onRefused']
}

/** Another process may change the rules between the look at them and the change. */
const MAX_TRIES = 4

/** Keeps one guard running, and through it the rules of the installation and of its sandboxes in force. */
export class EgressControl implements AsyncDisposable {
  readonly #options: EgressControlOptions
  readonly #starts = new SingleFlight<'start', Guard>()
  /** By the text of the rules. */
  readonly #bases = new SingleFlight<string, void>()
  #guard: Guard | undefined
  /** What this process has registered, by address. */
  readonly #own = new Map<string, Registration>()
  /** The base rules that are in force, as this process knows. */
  #inForce: string | undefined
  #host: HostFacts = { addresses: [], hasIpv6: false, maxOpenFiles: 0 }
  /** How often somebody has deleted the rules. */
  #losses = 0
  #resolvers: readonly string[] = []
  #onLost = (): void => undefined
  #isDisposed = false

  constructor(options: EgressControlOptions) {
    this.#options = options
  }

  /**
   * Starts the guard, reads the facts of the host and puts the base rules in force. Must be called once, before any other method.
   *
   * @throws AppError `failed_precondition` when the host's kernel refuses the rules
   */
  async open(): Promise<void> {
    try {
      await Promise.all([this.#runningGuard(), this.#learnResolvers()])
      await this.#ensureBase().catch((err: unknown) => {
        throw isAppError(err, 'internal') ? notSupported(err) : err
      })
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

  /** `listener` is called when somebody has deleted the rules: the base rules are in force again then, and all sandboxes are shut until they are registered. */
  onLost(listener: () => void): void {
    this.#onLost = listener
  }

  /**
   * Returns when the policy is in force for a sandbox, instead of any other. Until the first registration a sandbox has no network. Connections
   * that the sandbox has open to what is denied now end; those that came in stay.
   *
   * @throws AppError when it is not in force: the caller must not let a new sandbox run
   */
  async register(station: Station, policy: EgressPolicy): Promise<void> {
    const { installation } = this.#options
    const rules = compilePolicy(installation, station.address, policy)
    const add = compileRegistration(installation, station, rules)
    const { interface: bridge } = await this.#options.bridge()
    await this.#ensureBase()
    const port = await this.#onGuard(async (guard) => {
      try {
        return await guard.apply(add, { bridge, ...station })
      } catch (err) {
        if (!isAppError(err, 'internal')) throw err
        return this.#replace(guard, station, { add, bridge, failure: err })
      }
    })
    this.#own.set(station.address, registrationOf({ ...station, port }, rules))
  }

  /** Removes what is registered for an address. Must be called before the engine may give the address to another container. */
  async unregister(address: string): Promise<void> {
    const { installation } = this.#options
    const own = this.#own.get(address)
    this.#own.delete(address)
    await this.#onGuard(async (guard) => {
      const isDone = own !== undefined && (await refused(() => guard.apply(compileRemoval(installation, address, own)))) === undefined
      if (isDone) return
      const found = await this.#registered(guard)
      const text = found === undefined ? '' : compileRemoval(installation, address, found)
      if (text !== '') await guard.apply(text)
    })
  }

  /** What is registered. The base rules are in force then. */
  async registered(): Promise<Registration> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      await this.#ensureBase()
      const found = await this.#onGuard((guard) => this.#registered(guard))
      if (found !== undefined) return found
      this.#lose()
    }
    throw new AppError('unavailable', 'The egress rules are deleted again and again.')
  }

  /**
   * Removes the rules of other installations whose network is gone: they are written for its subnet, which the engine gives to others. Another process
   * that makes such a network at this moment sets its rules again, because its guard reports the removal.
   */
  async sweep(): Promise<void> {
    await this.#onGuard(async (guard) => {
      const { tables, interfaces } = await guard.survey()
      const installations = tables.flatMap((table) => installationOf(table) ?? [])
      for (const installation of installations.filter(
        (name) => name !== this.#options.installation && !interfaces.includes(bridgeName(name)),
      )) {
        await guard.apply(compileDeletion(installation))
        await guard.passUnmarked(bridgeName(installation))
      }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    const guard = this.#guard
    this.#guard = undefined
    await guard?.[Symbol.asyncDispose]()
  }

  /** Replaces the registration of an address in one transaction. @throws `failure` when there is none that could have been in the way */
  async #replace(guard: Guard, { address, mac }: Station, { add, bridge, failure }: Replacement): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      const found = await this.#registered(guard)
      const removal = found === undefined ? '' : compileRemoval(this.#options.installation, address, found)
      if (found === undefined) {
        this.#lose()
        await this.#ensureBase()
      } else if (removal === '') throw failure
      try {
        return await guard.apply(`${removal}\n${add}`, { bridge, mac, address })
      } catch (err) {
        if (!isAppError(err, 'internal') || tries === MAX_TRIES) throw err
      }
    }
  }

  async #registered(guard: Guard): Promise<Registration | undefined> {
    const table = tableName(this.#options.installation)
    return readRegistration(
      await guard.list([
        ['bridge', table],
        ['inet', table],
      ]),
    )
  }

  async #ensureBase(): Promise<void> {
    const bridge = await this.#options.bridge()
    const text = compileBase(this.#base(bridge))
    for (let tries = 1; this.#inForce !== text; tries += 1) {
      if (tries > MAX_TRIES) throw new AppError('unavailable', 'The egress rules are deleted again and again.')
      await this.#applyBase(text, bridge)
    }
  }

  #applyBase(text: string, bridge: Bridge): Promise<void> {
    const losses = this.#losses
    return this.#bases.run(`${losses} ${text}`, async () => {
      const isNew = await this.#onGuard(async (guard) => {
        const refusal = await refused(() => guard.apply(text))
        // The tables of another version may have other sets and chains.
        if (refusal !== undefined) await guard.apply(`${compileDeletion(this.#options.installation)}\n${text}`)
        await guard.dropUnmarked(bridge.interface, PASSED)
        return refusal !== undefined
      })
      // Somebody may have deleted them again, and the report has come first.
      if (losses === this.#losses) this.#inForce = text
      if (isNew) this.#onLost()
    })
  }

  #base(bridge: Bridge): BaseRules {
    const { installation, settings } = this.#options
    const { openPrivate, controlNetworks, ingressSources, gateway, limits } = settings
    return {
      installation,
      bridge,
      resolvers: this.#resolvers,
      closed: [...this.#host.addresses, ...controlNetworks],
      openPrivate,
      ingressSources: ingressSources.length > 0 ? ingressSources : [bridge.gateway],
      gateway,
      limits,
    }
  }

  /** A guard that ends during the work is replaced, and the work is done again, once. */
  async #onGuard<T>(work: (guard: Guard) => Promise<T>): Promise<T> {
    const guard = await this.#runningGuard()
    try {
      return await work(guard)
    } catch (err) {
      if (!guard.isLost || this.#isDisposed) throw err
      this.#options.log.warn({ err }, 'the egress guard ended during a request; a new guard repeats it')
      return work(await this.#runningGuard())
    }
  }

  async #runningGuard(): Promise<Guard> {
    if (this.#guard !== undefined && !this.#guard.isLost) return this.#guard
    return this.#starts.run('start', async () => {
      const guard = await this.#options.startGuard({
        onHost: (host) => this.#learn(host),
        onLost: (table) => this.#restore(table),
        onRefused: this.#options.onRefused,
      })
      if (this.#isDisposed) {
        await guard[Symbol.asyncDispose]()
        throw new AppError('unavailable', 'The runtime is closed.')
      }
      this.#guard = guard
      void guard.lost.then(() => this.#replaceLost(guard))
      return guard
    })
  }

  /** A lost guard is replaced at once, because only a guard reports what changes on the host. What changed meanwhile is looked for. */
  async #replaceLost(lost: Guard): Promise<void> {
    if (this.#isDisposed || this.#guard !== lost) return
    try {
      await this.#runningGuard()
      this.#restore(tableName(this.#options.installation))
    } catch (err) {
      this.#options.log.error({ err }, 'the egress guard could not be replaced')
    }
  }

  #learn(host: HostFacts): void {
    const before = this.#host.addresses.join()
    this.#host = host
    if (before === '' || before === host.addresses.join()) return
    // A changed network often has other resolvers.
    this.#ensureBase()
      .then(() => this.#learnResolvers())
      .then(() => this.#ensureBase())
      .catch((err: unknown) => this.#options.log.warn({ err }, 'the egress rules do not have the new addresses of the host yet'))
  }

  #restore(table: string): void {
    if (this.#isDisposed || table !== tableName(this.#options.installation)) return
    this.#lose()
    this.#ensureBase()
      .catch((err: unknown) => this.#options.log.error({ err }, 'the deleted egress rules could not be put in force again'))
      .finally(() => this.#onLost())
  }

  #lose(): void {
    this.#losses += 1
    this.#inForce = undefined
  }

  async #learnResolvers(): Promise<void> {
    this.#resolvers = await this.#options.readResolvers()
  }
}

interface Replacement {
  readonly add: string
  readonly bridge: string
  readonly failure: AppError
}

function registrationOf(bound: Station & { readonly port: string }, { chain, mark }: SandboxRules): Registration {
  return {
    ports: new Set([bound.port]),
    bound: [bound],
    chains: new Map([[bound.address, chain]]),
    marks: new Map(mark === undefined ? [] : [[chain, mark]]),
  }
}

/** The refusal of rules; undefined when they are in force. @throws other errors */
async function refused(apply: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await apply()
    return undefined
  } catch (err) {
    if (isAppError(err, 'internal')) return err
    throw err
  }
}

function notSupported(cause: unknown): AppError {
  const sentence =
    "The kernel of the engine's host cannot keep sandboxes within the egress rules: it needs Linux 5.9 with nftables for bridges. " +
    'Accept sandboxes without these rules with SANDYARD_ALLOW_UNENFORCED_EGRESS=true.'
  return new AppError('failed_precondition', sentence, { cause })
}
