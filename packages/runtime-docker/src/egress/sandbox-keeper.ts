import { isAppError, type AppError } from '@sandyard/kit/errors/app-error'
import type { EgressPolicy } from '@sandyard/runtime/types'
import type { Bridge } from '../network/sandbox-network.ts'
import type { BaseKeeper } from './base-keeper.ts'
import type { Guard } from './guard.ts'
import type { GuardKeeper } from './guard-keeper.ts'
import { listingOf, readRegistration } from './read-registration.ts'
import { refused } from './refused.ts'
import { portsOf, registrationOf, type Registration, type Station } from './registration.ts'
import { compilePolicy, compileRegistration, compileRemoval } from './sandbox-rules.ts'

export interface SandboxKeeperOptions {
  readonly installation: string
  readonly guards: GuardKeeper
  readonly base: BaseKeeper
  readonly bridge: () => Promise<Bridge>
}

/** Another process may change the rules between the look at them and the change. */
const MAX_TRIES = 4

/** Registers sandboxes with their policies. What it asks of the guard for one sandbox takes turns with what it asks for the others, by address. */
export class SandboxKeeper {
  readonly #options: SandboxKeeperOptions
  /** What this process has registered, by address. */
  readonly #own = new Map<string, Registration>()

  constructor(options: SandboxKeeperOptions) {
    this.#options = options
  }

  /** As `EgressControl.register`. */
  async register(station: Station, policy: EgressPolicy): Promise<void> {
    const { installation, bridge: find, base, guards } = this.#options
    const { address } = station
    const rules = compilePolicy(installation, address, policy)
    const add = compileRegistration(installation, station, rules)
    const { interface: bridge } = await find()
    await base.ensure()
    const port = await guards.use(async (guard) => {
      const own = this.#own.get(address)
      // From the default to the default nothing is removed: then the addition is refused if another process has given it an own chain.
      const isSame = own?.marks.size === 0 && rules.mark === undefined
      const text = replacing(own === undefined || isSame ? '' : compileRemoval(installation, address, own), add)
      try {
        return await guard.apply(text, { owner: address, port: { bridge, ...station } })
      } catch (err) {
        if (!isAppError(err, 'internal')) throw err
        return this.#replace(guard, station, { add, bridge, refusedText: text, failure: err })
      }
    })
    this.#own.set(address, registrationOf({ ...station, port }, rules))
  }

  /** As `EgressControl.unregister`. */
  async unregister(address: string): Promise<void> {
    const { installation, guards } = this.#options
    const own = this.#own.get(address)
    this.#own.delete(address)
    await guards.use(async (guard) => {
      const remove = (found: Registration): Promise<void> => guard.apply(compileRemoval(installation, address, found), { owner: address })
      const isDone = own !== undefined && (await refused(() => remove(own))) === undefined
      if (isDone) return
      const found = await this.#registered(guard, address)
      const text = found === undefined ? '' : compileRemoval(installation, address, found)
      if (text !== '') await guard.apply(text, { owner: address })
    })
  }

  /** As `EgressControl.unregisterSeen`. */
  async unregisterSeen(address: string, seen: Registration): Promise<void> {
    const { installation, guards } = this.#options
    await guards.use(async (guard) => {
      const found = await this.#registered(guard, address)
      if (found === undefined || portsOf(found, address) !== portsOf(seen, address)) return
      this.#own.delete(address)
      const text = compileRemoval(installation, address, found)
      if (text !== '') await guard.apply(text, { owner: address })
    })
  }

  /** What is registered. The base rules are in force then. */
  registered(): Promise<Registration> {
    const { base, guards } = this.#options
    return base.during(() => guards.use((guard) => this.#registered(guard)))
  }

  /**
   * Replaces what is registered for an address, which is not what this process knows, in one transaction.
   *
   * @throws `failure` when what is registered was not in the way
   */
  async #replace(guard: Guard, { address, mac }: Station, { add, bridge, refusedText, failure }: Replacement): Promise<string> {
    const { installation, base } = this.#options
    for (let tries = 1; ; tries += 1) {
      const found = await this.#registered(guard, address)
      const text = replacing(found === undefined ? '' : compileRemoval(installation, address, found), add)
      if (found === undefined) {
        base.lose()
        await base.ensure()
      } else if (text === refusedText) throw failure
      try {
        return await guard.apply(text, { owner: address, port: { bridge, mac, address } })
      } catch (err) {
        if (!isAppError(err, 'internal') || tries === MAX_TRIES) throw err
      }
    }
  }

  /** What is registered, of own chains that of the address only. */
  async #registered(guard: Guard, address?: string): Promise<Registration | undefined> {
    return readRegistration(await guard.list(listingOf(this.#options.installation, address), address))
  }
}

interface Replacement {
  readonly add: string
  readonly bridge: string
  readonly refusedText: string
  readonly failure: AppError
}

/** One transaction. */
function replacing(removal: string, add: string): string {
  return `${removal}\n${add}`
}
