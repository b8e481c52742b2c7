import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Secret } from '@sandyard/kit/config/secret'
import { isSameText } from '../access/same-text.ts'

export type Variables = Readonly<Record<string, string>>

/**
 * What `/init` sets and every other operation reads (envd.md 3.1, 5.4, 5.5). In memory only: the platform sends it again after each start.
 */
export class DaemonState {
  /** False until the first accepted `/init`. */
  initialised = false
  accessToken: Secret | undefined
  defaultUser = 'root'
  defaultWorkdir: string | undefined
  /** URL of the platform's event collector. */
  eventsAddress: string | undefined
  #userVariables: Variables = {}
  readonly #internalVariables: Variables

  /** @param internalVariables of the platform; `/init` can neither replace nor remove them, undefined ones do not exist */
  constructor(internalVariables: Environment) {
    this.#internalVariables = Object.fromEntries(
      Object.entries(internalVariables).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
  }

  /** Replaces all variables of the user. */
  set userVariables(variables: Variables) {
    this.#userVariables = { ...variables }
  }

  /** The variables that every process starts with, besides those of its user. */
  get variables(): Variables {
    const events = this.eventsAddress === undefined ? {} : { E2B_EVENTS_ADDRESS: this.eventsAddress }
    return { ...this.#userVariables, ...this.#internalVariables, ...events }
  }

  /** Takes a time that is independent of the token. False while no token is set. */
  isAccessToken(presented: string): boolean {
    return this.accessToken !== undefined && isSameText(presented, this.accessToken.reveal())
  }
}
