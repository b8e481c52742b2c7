import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Bridge } from '../network/sandbox-network.ts'
import { compileBase, compileDeletion, PASSED, type BaseRules } from './base-rules.ts'
import type { GuardKeeper } from './guard-keeper.ts'
import { refused } from './refused.ts'

/** Somebody may delete the rules each time that they are in force again. */
const MAX_TRIES = 4

export interface BaseKeeperOptions {
  readonly installation: string
  readonly guards: GuardKeeper
  readonly bridge: () => Promise<Bridge>
  /** The rules of this moment. */
  readonly rules: (bridge: Bridge) => BaseRules
  /** Called after tables that refused the rules were replaced: no sandbox is registered in the new ones. */
  readonly onReplaced: (refusal: AppError) => void
}

/** Keeps the rules that are the same for all sandboxes in force. */
export class BaseKeeper {
  readonly #options: BaseKeeperOptions
  /** By the text of the rules. */
  readonly #runs = new SingleFlight<string, void>()
  /** The text that is in force, as this process knows. */
  #inForce: string | undefined
  /** How often somebody has deleted the rules. */
  #losses = 0
  /** How often the tables of another version were replaced. */
  #replacements = 0

  constructor(options: BaseKeeperOptions) {
    this.#options = options
  }

  /** Another number after every loss of what was registered in the tables. */
  get generation(): number {
    return this.#losses + this.#replacements
  }

  /** Returns when the rules of this moment are in force. @throws AppError of the guard; `unavailable` when they are deleted each time */
  async ensure(): Promise<void> {
    const { bridge: find, rules } = this.#options
    const bridge = await find()
    const text = compileBase(rules(bridge))
    for (let tries = 1; this.#inForce !== text; tries += 1) {
      if (tries > MAX_TRIES) throw deletedAgain()
      await this.#apply(text, bridge)
    }
  }

  /** Returns what `read` finds while the rules are in force. It returns undefined when they are absent. */
  async during<T>(read: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      await this.ensure()
      const found = await read()
      if (found !== undefined) return found
      this.lose()
    }
    throw deletedAgain()
  }

  /** Must be called when the rules are absent. */
  lose(): void {
    this.#losses += 1
    this.#inForce = undefined
  }

  #apply(text: string, bridge: Bridge): Promise<void> {
    const { installation, guards, onReplaced } = this.#options
    const losses = this.#losses
    return this.#runs.run(`${losses} ${text}`, async () => {
      const refusal = await guards.use(async (guard) => {
        const found = await refused(() => guard.apply(text))
        // The tables of another version may have other sets and chains.
        if (found !== undefined) await guard.apply(`${compileDeletion(installation)}\n${text}`)
        await guard.dropUnmarked(bridge.interface, PASSED)
        return found
      })
      // Somebody may have deleted them again, and the report has come first.
      if (losses === this.#losses) this.#inForce = text
      if (refusal === undefined) return
      this.#replacements += 1
      onReplaced(refusal)
    })
  }
}

function deletedAgain(): AppError {
  return new AppError('unavailable', 'The egress rules are deleted again and again.')
}
