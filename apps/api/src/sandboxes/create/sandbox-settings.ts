import type { NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import type { StoredIdentityToken, StoredNetwork, StoredVolumeMount } from '@sandyard/db/schema/sandbox'
import { toStoredNetwork } from '../network/stored-network.ts'

/** What a create request decides for the whole life of a sandbox, over pauses and resumes. */
export interface SandboxSettings {
  readonly metadata: Readonly<Record<string, string>>
  /** Null when the request did not set it. */
  readonly allowInternetAccess: boolean | null
  readonly autoPause: boolean
  readonly autoPauseMemory: boolean
  readonly autoResume: boolean
  readonly autoResumeSeconds: number
  readonly network: StoredNetwork
  readonly mcp: Readonly<Record<string, unknown>> | null
  readonly volumeMounts: readonly StoredVolumeMount[]
  /** The identity tokens that its network rules may name. */
  readonly iam: Readonly<Record<string, StoredIdentityToken>>
}

/** The shortest lifetime after a resume by traffic (control-plane.md 6.2.5). */
const LEAST_AUTO_RESUME_SECONDS = 300

/** What the checks of a create request have read. */
export interface CheckedSettings {
  readonly lifetimeSeconds: number
  readonly maxLifetimeSeconds: number
  readonly volumeMounts: readonly StoredVolumeMount[]
}

/** The settings of a create request that has passed its checks; the lifetime after a resume by traffic never changes later. */
export function toSettings(body: NewSandbox, { lifetimeSeconds, maxLifetimeSeconds, volumeMounts }: CheckedSettings): SandboxSettings {
  return {
    metadata: body.metadata ?? {},
    allowInternetAccess: body.allow_internet_access ?? null,
    autoPause: body.autoPause ?? false,
    autoPauseMemory: body.autoPauseMemory ?? true,
    autoResume: body.autoResume?.enabled ?? false,
    autoResumeSeconds: Math.max(Math.min(lifetimeSeconds, maxLifetimeSeconds), LEAST_AUTO_RESUME_SECONDS),
    network: toStoredNetwork(body.network ?? {}),
    mcp: body.mcp ?? null,
    volumeMounts,
    iam: toStoredTokens(body.iam),
  }
}

/** Every token is a JWT-SVID, so only its audience is stored. */
function toStoredTokens(iam: NewSandbox['iam']): Record<string, StoredIdentityToken> {
  return Object.fromEntries(Object.entries(iam?.tokens ?? {}).map(([name, { audience }]) => [name, { audience }]))
}
