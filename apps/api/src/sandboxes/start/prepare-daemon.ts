import { sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import { proxyVariables, withDefaults } from '@sandyard/kit/outbound/proxy-variables'
import { inSpan } from '@sandyard/kit/tracing/span'
import { isOpenEgress } from '@sandyard/runtime/open-egress'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import { daemonIdentity } from '../../daemon/daemon-identity.ts'
import { initTrusting, type DaemonInit } from '../../daemon/init-daemon.ts'
import { toEgressPolicy } from '../network/to-egress-policy.ts'
import { runStartCommand } from './run-start-command.ts'
import { accessToken, authoritiesOf, type SandboxSource, type TrustParts } from './sandbox-spec.ts'
import { trustVariables } from './trust-variables.ts'

export interface PrepareRequest {
  readonly source: SandboxSource
  readonly endpoint: SandboxEndpoint
  /** The variables of the create request. They are not stored, so a resume from files has none (control-plane.md 6.6). */
  readonly envVars: Readonly<Record<string, string>>
}

export interface ConfigureRequest extends PrepareRequest {
  /** The daemon runs: a connection that it refuses is a failure. */
  readonly hasAnswered?: boolean
  /** Of a sandbox of the warm pool. */
  readonly claim?: string
}

/** How long each part took, in ms. */
export interface PrepareTimes {
  readonly daemonMs: number
  readonly startCommandMs: number
}

/**
 * Prepares the daemon of a sandbox that has just started from files: `/init`, then the template's start command until it is ready. The variables
 * of the installation are defaults: those of the template and of the request replace them. The start command sees none of the request: upstream it
 * has run before the request came (control-plane.md 11.6), and here it has where the sandbox comes from the warm pool.
 *
 * @throws StartCommandError; AppError of `/init`; the abort reason
 */
export async function prepareDaemon(parts: TrustParts, request: PrepareRequest, signal: AbortSignal): Promise<PrepareTimes> {
  const { source, endpoint, envVars } = request
  const began = performance.now()
  const { startCmd } = source.build
  await configureDaemon(parts, startCmd === undefined ? request : { ...request, envVars: {} }, signal)
  const answered = performance.now()
  if (startCmd !== undefined) {
    const daemon = { endpoint, accessToken: accessToken(source, parts.tokenSeed) }
    await inSpan('start command', {}, () => runStartCommand(daemon, source.build, signal))
    if (Object.keys(envVars).length > 0) await configureDaemon(parts, { ...request, hasAnswered: true }, signal)
  }
  return { daemonMs: Math.round(answered - began), startCommandMs: Math.round(performance.now() - answered) }
}

/**
 * Posts `/init`: identity, token, variables and defaults of a sandbox. It replaces those of an earlier one.
 *
 * @throws AppError of `/init`; the abort reason
 */
export async function configureDaemon(parts: TrustParts, request: ConfigureRequest, signal: AbortSignal): Promise<void> {
  const { source, endpoint, hasAnswered } = request
  const target = { endpoint, instanceKey: sandboxInstanceKey(parts.tokenSeed, source), ...(hasAnswered === true && { hasAnswered }) }
  const isTrustRequired = source.network.rules !== undefined
  const authorities = await authoritiesOf(source, parts)
  const init = (trusts: boolean): DaemonInit => initOf(parts, request, { trusts, authorities })
  await inSpan('daemon init', {}, () => initTrusting(target, init, { isTrustRequired, signal }))
}

interface Trust {
  /** Whether the sandbox gets the authorities. */
  readonly trusts: boolean
  readonly authorities: string | undefined
}

function initOf(parts: TrustParts, { source, envVars, claim }: ConfigureRequest, { trusts, authorities }: Trust): DaemonInit {
  const { sandboxId, templateId, network, allowInternetAccess } = source
  const { buildId, env, defaultUser, defaultWorkdir } = source.build
  const token = accessToken(source, parts.tokenSeed)
  const caBundle = trusts ? authorities : undefined
  const defaults = {
    // A proxy would lead past any other policy, so it is closed to the sandbox then.
    ...(isOpenEgress(toEgressPolicy(network, allowInternetAccess)) && proxyVariables(parts.outbound)),
    ...(trusts && trustVariables(parts.outbound)),
  }
  return {
    identity: daemonIdentity({ sandboxId, templateId, buildId }, parts.tokenSeed),
    ...(claim !== undefined && { claim }),
    ...(token !== undefined && { accessToken: token }),
    ...(caBundle !== undefined && { caBundle }),
    envVars: withDefaults({ ...env, ...envVars }, defaults),
    defaultUser,
    defaultWorkdir,
  }
}
