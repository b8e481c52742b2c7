import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { DEFAULT_EGRESS, type SandboxRef, type SandboxSpec } from '@sandyard/runtime/types'
import { daemonEnv } from '../daemon/daemon-env.ts'
import type { ReadyBuild } from '../templates/template.ts'

/** What a sandbox runs: the same for its create and for every resume. */
export interface SandboxSource extends SandboxRef {
  readonly templateId: string
  readonly build: ReadyBuild
  readonly isSecure: boolean
}

/** The spec of a sandbox for the runtime. */
export function sandboxSpec(source: SandboxSource, tokenSeed: Secret): SandboxSpec {
  const { sandboxId, incarnation, templateId, build } = source
  const { buildId, image, cpuCount, memoryMib, diskMib } = build
  return {
    sandboxId,
    incarnation,
    image,
    resources: { cpuCount, memoryMib, diskMib },
    daemonEnv: daemonEnv({ sandboxId, templateId, buildId, token: accessToken(source, tokenSeed) }, tokenSeed),
    allowPrivilegeGain: true,
    mounts: [],
    egress: DEFAULT_EGRESS,
  }
}

/** The token of the sandbox's daemon; undefined for an open sandbox. */
export function accessToken({ sandboxId, isSecure }: SandboxSource, tokenSeed: Secret): string | undefined {
  return isSecure ? sandboxAccessToken(tokenSeed, sandboxId) : undefined
}
