import { spaced } from '@sandyard/kit/async/spaced'
import { within } from '@sandyard/kit/async/within'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { EgressPolicy, RuntimeVitals } from '@sandyard/runtime/types'
import type { Bridge } from '../network/sandbox-network.ts'
import { bridgeName } from '../labels.ts'
import { BaseKeeper } from './base-keeper.ts'
import { compileDeletion, installationOf, tableName, type BaseRules } from './base-rules.ts'
import { EgressFacts, type FactSources } from './egress-facts.ts'
import type { Guard, GuardListeners, HostFacts } from './guard.ts'
import { GuardKeeper } from './guard-keeper.ts'
import { MemberKeeper, type Member } from './member-keeper.ts'
import type { Registration, Station } from './registration.ts'
import { SandboxKeeper } from './sandbox-keeper.ts'

/** The operator's settings, as IPv4 networks or addresses. */
export interface EgressSettings {
  readonly openPrivate: readonly string[]
  readonly controlNetworks: readonly string[]
  /** Where the proxy and the api connect from; the host when empty. */
  readonly ingressSources: readonly string[]
  readonly gateway: BaseRules['gateway']
  readonly limits: BaseRules['limits']
}

export interface EgressControlOptions extends FactSources {
  readonly installation: string
  readonly settings: EgressSettings
  /** The network of the sandboxes; it is another one after an operator has pruned it. */
  readonly bridge: () => Promise<Bridge>
  /** Reads the network from the engine again; later calls of `bridge` return that one. Undefined: the engine has no such network. */
  readonly lookForBridge: () => Promise<Bridge | undefined>
  readonly startGuard: (listeners: GuardListeners) => Promise<Guard>
  readonly onRefused: GuardListeners['onRefused']
}

/** New addresses of the host are closed after this time at the latest. */
const LOOK_TIMEOUT_MS = 2000

/** Each look starts a container, and on some hosts networks come and go all the time. */
const RESOLVERS_GAP_MS = 10_000

/** Keeps the rules of an installation and of its sandboxes in force. */
export class EgressControl implements AsyncDisposable {
  readonly #options: EgressControlOptions
  readonly #guards: GuardKeeper
  readonly #base: BaseKeeper
  readonly #members: MemberKeeper
  readonly #sandboxes: SandboxKeeper
  readonly #facts: EgressFacts
  readonly #lookAtResolvers = spaced(RESOLVERS_GAP_MS, () => {
    this.#readResolvers().catch((err: unknown) => this.#warnOfAddresses(err))
  })
  #onLost = (): void => undefined

  constructor(options: EgressControlOptions) {
    this.#options = options
    this.#facts = new EgressFacts(options)
    const { installation, log, startGuard, onRefused, bridge } = options
    const listeners: GuardListeners = {
      onHost: (host) => this.#learn(host),
      onLost: (table) => {
        if (table === tableName(installation)) this.#restore()
      },
      onRefused,
    }
    // What changed while no guard ran is looked for.
    this.#guards = new GuardKeeper({ log, start: () => startGuard(listeners), onReplaced: () => this.#restore() })
    this.#base = new BaseKeeper({
      installation,
      guards: this.#guards,
      bridge,
      rules: (found) => this.#rules(found),
      onReplaced: (refusal) => {
        log.warn(
          { err: refusal },
          'the tables of the egress rules refused the rules of this version and were replaced: sandboxes have no network until they are registered again',
        )
        this.#onLost()
      },
    })
    const keepers = { installation, guards: this.#guards, base: this.#base, bridge }
    this.#members = new MemberKeeper(keepers)
    this.#sandboxes = new SandboxKeeper(keepers)
  }

  /**
   * Starts the guard, reads the facts of the host and puts the base rules in force. Must be called once, before any other method.
   *
   * @throws AppError `failed_precondition` when the host's kernel refuses the rules
   */
  async open(): Promise<void> {
    try {
      await Promise.all([this.#guards.running(), this.#facts.readResolvers(), this.#facts.lookUpProxy()])
      await this.#base.ensure().catch((err: unknown) => {
        throw isAppError(err, 'internal') ? notSupported(err) : err
      })
    } catch (err) {
      await this[Symbol.asyncDispose]()
      throw err
    }
  }

  /** The resolvers of sandboxes that start now. */
  get resolvers(): readonly string[] {
    return this.#facts.resolvers
  }

  get host(): HostFacts {
    return this.#facts.host
  }

  async vitals(): Promise<RuntimeVitals> {
    return { guardRestarts: this.#guards.restarts, ...(await this.#guards.use((guard) => guard.room())) }
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
  register(station: Station, policy: EgressPolicy): Promise<void> {
    return this.#sandboxes.register(station, policy)
  }

  /** Lets the members of the network, and no other containers, connect to sandboxes. Their other networks are closed to sandboxes. */
  setMembers(list: () => Promise<readonly Member[]>): Promise<void> {
    return this.#members.set(list)
  }

  /** Removes what is registered for an address. Must be called before the engine may give the address to another container. */
  unregister(address: string): Promise<void> {
    return this.#sandboxes.unregister(address)
  }

  /** Removes what is registered for an address if it is as in `seen`. If not, the address belongs to a newer sandbox, perhaps of another process. */
  unregisterSeen(address: string, seen: Registration): Promise<void> {
    return this.#sandboxes.unregisterSeen(address, seen)
  }

  /** What is registered. The base rules are in force then. */
  async registered(): Promise<Registration> {
    await this.#facts.lookUpProxy()
    return this.#sandboxes.registered()
  }

  /**
   * Removes the rules of other installations whose network is gone: they are written for its subnet, which the engine gives to others. Another process
   * that makes such a network at this moment sets its rules again, because its guard reports the removal.
   */
  async sweep(): Promise<void> {
    await this.#guards.use(async (guard) => {
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
    this.#lookAtResolvers[Symbol.dispose]()
    await this.#guards[Symbol.asyncDispose]()
  }

  #rules(bridge: Bridge): BaseRules {
    const { installation, settings } = this.#options
    const { openPrivate, controlNetworks, ingressSources, gateway, limits } = settings
    return {
      installation,
      bridge,
      resolvers: this.#facts.resolvers,
      closed: [...this.#facts.host.addresses, ...controlNetworks, ...this.#members.networks],
      openPrivate,
      companyProxy: this.#facts.companyProxy,
      ingressSources: ingressSources.length > 0 ? ingressSources : [bridge.gateway],
      gateway,
      limits,
    }
  }

  #learn(host: HostFacts): void {
    if (!this.#facts.learn(host) || this.#guards.isDisposed) return
    this.#renew().catch((err: unknown) => this.#warnOfAddresses(err))
    this.#lookAtResolvers()
  }

  /** A changed network often has other resolvers. */
  async #readResolvers(): Promise<void> {
    await this.#facts.readResolvers()
    await this.#renew()
  }

  /**
   * Puts the rules in force for what has changed on the host. The network may be another one than this process knows, with another subnet: rules for the
   * former one would shut every sandbox. While the engine does not answer, the known one counts: new addresses of the host are closed all the same.
   */
  async #renew(): Promise<void> {
    const look = within({ what: 'reading the sandbox network', timeoutMs: LOOK_TIMEOUT_MS }, () => this.#options.lookForBridge())
    const isThere = await look.then(
      (found) => found !== undefined,
      () => true,
    )
    if (isThere) await this.#base.ensure()
  }

  #warnOfAddresses(err: unknown): void {
    this.#options.log.warn({ err }, 'the egress rules do not have the new addresses of the host yet')
  }

  #restore(): void {
    if (this.#guards.isDisposed) return
    this.#base.lose()
    this.#renew()
      .catch((err: unknown) => this.#options.log.error({ err }, 'the deleted egress rules could not be put in force again'))
      .finally(() => this.#onLost())
  }
}

function notSupported(cause: unknown): AppError {
  const sentence =
    "The kernel of the engine's host cannot keep sandboxes within the egress rules: it needs Linux 5.9 with nftables for bridges. " +
    'Accept sandboxes without these rules with SANDYARD_ALLOW_UNENFORCED_EGRESS=true.'
  return new AppError('failed_precondition', sentence, { cause })
}
