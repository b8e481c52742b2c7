import type { Secret } from '@sandyard/kit/config/secret'
import { isSameText } from '@sandyard/kit/secrets/same-text'

/** Which sandbox this is; given by the platform with `/init`. */
export interface DaemonIdentity {
  readonly sandboxId: string
  readonly templateId: string
  readonly buildId: string
  /** `secretDigest` of the secret with which the proxy asks for tunnels. */
  readonly tunnelSecretHash: string
}

/** Field by field: a general comparison is code that only this would compile, in the request that a create waits for. */
export function isSameIdentity(one: DaemonIdentity, other: DaemonIdentity | undefined): boolean {
  return (
    one.sandboxId === other?.sandboxId &&
    one.templateId === other.templateId &&
    one.buildId === other.buildId &&
    one.tunnelSecretHash === other.tunnelSecretHash
  )
}

export type Variables = Readonly<Record<string, string>>

/**
 * What `/init` sets and every other operation reads (envd.md 3.1, 5.4, 5.5). In memory only: the platform sends it again after each start.
 */
export class DaemonState {
  /** False until the first accepted `/init`. */
  initialised = false
  /** Undefined without a platform, and before the first accepted `/init`. */
  identity: DaemonIdentity | undefined
  accessToken: Secret | undefined
  defaultUser = 'root'
  defaultWorkdir: string | undefined
  /** URL of the platform's event collector. */
  eventsAddress: string | undefined
  #userVariables: Variables = {}

  /** Replaces all variables of the user. */
  set userVariables(variables: Variables) {
    this.#userVariables = { ...variables }
  }

  /** The variables that every process starts with, besides those of its user. Those of the platform win over the user's. */
  get variables(): Variables {
    const { identity, eventsAddress } = this
    return {
      ...this.#userVariables,
      E2B_SANDBOX: 'true',
      ...(identity !== undefined && { E2B_SANDBOX_ID: identity.sandboxId, E2B_TEMPLATE_ID: identity.templateId }),
      ...(eventsAddress !== undefined && { E2B_EVENTS_ADDRESS: eventsAddress }),
    }
  }

  /** Takes a time that is independent of the token. False while no token is set. */
  isAccessToken(presented: string): boolean {
    return this.accessToken !== undefined && isSameText(presented, this.accessToken.reveal())
  }
}
