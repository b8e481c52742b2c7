import { within } from '@sandyard/kit/async/within'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'
import { prepareDaemon } from '../sandboxes/start/prepare-daemon.ts'
import { sandboxSpec, type SandboxSource, type TrustParts } from '../sandboxes/start/sandbox-spec.ts'
import type { WantedBuild } from './plan-pool.ts'

/** Time for an aborted start to undo its work. */
const GRACE_MS = 2000

export interface ParkParts extends TrustParts {
  readonly runtime: SandboxRuntime
  /** Deadline of the whole start. */
  readonly startTimeoutMs: number
}

/**
 * Starts a sandbox that nobody has yet, until its start command is ready. Its network is the default one, and its daemon has a token that nobody
 * gets before a claim.
 *
 * @throws AppError of the runtime, of `/init`, `deadline_exceeded`; StartCommandError; the abort reason
 */
export function startParked(parts: ParkParts, ref: SandboxRef, wanted: WantedBuild, signal: AbortSignal): Promise<SandboxEndpoint> {
  const { build, templateId } = wanted
  const { runtime, tokenSeed, startTimeoutMs: timeoutMs } = parts
  const source: SandboxSource = { ...ref, templateId, build, isSecure: true, network: {}, allowInternetAccess: null, volumeMounts: [] }
  return within({ what: 'the start of a sandbox of the warm pool', timeoutMs, graceMs: GRACE_MS, signal }, async (ending) => {
    const spec = sandboxSpec(source, tokenSeed)
    const endpoint = await inSpan('engine create', { 'sandyard.sandbox_id': ref.sandboxId }, () =>
      build.snapshot === undefined ? runtime.create(spec, ending) : runtime.createFrom(build.snapshot, spec, ending),
    )
    await prepareDaemon(parts, { source, endpoint, envVars: {} }, ending)
    return endpoint
  })
}
