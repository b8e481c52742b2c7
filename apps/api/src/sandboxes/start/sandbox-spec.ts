import { sandboxAccessToken, sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import { DEFAULT_EGRESS, type SandboxRef, type SandboxSpec } from '@sandyard/runtime/types'
import type { ReadyBuild } from '../../templates/template.ts'

/** What a sandbox runs: the same for its create and for every resume. */
export interface SandboxSource extends SandboxRef {
  readonly templateId: string
  readonly build: ReadyBuild
  readonly isSecure: boolean
}

/** The spec of a sandbox for the runtime. */
export function sandboxSpec(source: SandboxSource, tokenSeed: Secret): SandboxSpec {
  const { sandboxId, incarnation, build } = source
  const { image, cpuCount, memoryMib, diskMib } = build
  return {
    sandboxId,
    incarnation,
    image,
    resources: { cpuCount, memoryMib, diskMib },
    instanceKey: sandboxInstanceKey(tokenSeed, source),
    allowPrivilegeGain: true,
    mounts: [],
    egress: DEFAULT_EGRESS,
  }
}

/** The token of the sandbox's daemon; undefined for an open sandbox. */
export function accessToken({ sandboxId, isSecure }: SandboxSource, tokenSeed: Secret): string | undefined {
  return isSecure ? sandboxAccessToken(tokenSeed, sandboxId) : undefined
}
