import { sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import { daemonIdentity } from '../../daemon/daemon-identity.ts'
import { initDaemon } from '../../daemon/init-daemon.ts'
import { runStartCommand } from './run-start-command.ts'
import { accessToken, authorityOf, type SandboxSource } from './sandbox-spec.ts'

export interface PrepareRequest {
  readonly source: SandboxSource
  readonly endpoint: SandboxEndpoint
  /** The variables of the create request. They are not stored, so a resume from files has none (control-plane.md 6.6). */
  readonly envVars: Readonly<Record<string, string>>
}

/** How long each part took, in ms. */
export interface PrepareTimes {
  readonly daemonMs: number
  readonly startCommandMs: number
}

/**
 * Prepares the daemon of a sandbox that has just started from files: `/init`, then the template's start command until it is ready.
 *
 * @throws StartCommandError; AppError of `/init`; the abort reason
 */
export async function prepareDaemon(tokenSeed: Secret, request: PrepareRequest, signal: AbortSignal): Promise<PrepareTimes> {
  const { source, endpoint, envVars } = request
  const { sandboxId, templateId } = source
  const { buildId, env, defaultUser, defaultWorkdir } = source.build
  const token = accessToken(source, tokenSeed)
  const caBundle = authorityOf(source, tokenSeed)
  const began = performance.now()
  const identity = daemonIdentity({ sandboxId, templateId, buildId }, tokenSeed)
  const init = {
    identity,
    ...(token !== undefined && { accessToken: token }),
    ...(caBundle !== undefined && { caBundle }),
    envVars: { ...env, ...envVars },
    defaultUser,
    defaultWorkdir,
  }
  const target = { endpoint, instanceKey: sandboxInstanceKey(tokenSeed, source) }
  await inSpan('daemon init', {}, () => initDaemon(target, init, signal))
  const answered = performance.now()
  if (source.build.startCmd !== undefined) {
    await inSpan('start command', {}, () => runStartCommand({ endpoint, accessToken: token }, { build: source.build, envVars }, signal))
  }
  return { daemonMs: Math.round(answered - began), startCommandMs: Math.round(performance.now() - answered) }
}
