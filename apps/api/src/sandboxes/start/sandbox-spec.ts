import { sandboxAccessToken, sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import type { StoredVolumeMount } from '@sandyard/db/schema/sandbox'
import type { SandboxMount, SandboxRef, SandboxSpec } from '@sandyard/runtime/types'
import type { ReadyBuild } from '../../templates/template.ts'
import type { CurrentNetwork } from '../network/read-network.ts'
import { toEgressPolicy } from '../network/to-egress-policy.ts'
import { cleanMountPath } from './mount-path.ts'

/** What a sandbox runs: the same for its create and for every resume. */
export interface SandboxSource extends SandboxRef, CurrentNetwork {
  readonly templateId: string
  readonly build: ReadyBuild
  readonly isSecure: boolean
  readonly volumeMounts: readonly StoredVolumeMount[]
}

/** The spec of a sandbox for the runtime. */
export function sandboxSpec(source: SandboxSource, tokenSeed: Secret): SandboxSpec {
  const { sandboxId, incarnation, build, network, allowInternetAccess, volumeMounts } = source
  const { image, cpuCount, memoryMib, diskMib } = build
  return {
    sandboxId,
    incarnation,
    image,
    resources: { cpuCount, memoryMib, diskMib },
    instanceKey: sandboxInstanceKey(tokenSeed, source),
    allowPrivilegeGain: true,
    mounts: volumeMounts.map(toMount),
    egress: toEgressPolicy(network, allowInternetAccess),
  }
}

/** The id of a volume is its name in the volume store. */
function toMount({ volumeId, path, readOnly = false }: StoredVolumeMount): SandboxMount {
  return { volume: volumeId, path: cleanMountPath(path), readOnly }
}

/** The token of the sandbox's daemon; undefined for an open sandbox. */
export function accessToken({ sandboxId, isSecure }: Pick<SandboxSource, 'sandboxId' | 'isSecure'>, tokenSeed: Secret): string | undefined {
  return isSecure ? sandboxAccessToken(tokenSeed, sandboxId) : undefined
}

export interface TrustParts {
  readonly tokenSeed: Secret
  readonly outbound: Outbound
}

/**
 * The authorities that a sandbox trusts beside the public ones, in PEM: those of the installation, and its own if its network has header rules
 * (control-plane.md 18.5). Undefined without any. The daemon replaces the last ones, so this is always the whole bundle.
 */
export async function authoritiesOf(
  { sandboxId, network }: Pick<SandboxSource, 'sandboxId' | 'network'>,
  { tokenSeed, outbound }: TrustParts,
): Promise<string | undefined> {
  const all = [...outbound.extraCa]
  if (network.rules !== undefined) {
    // Few sandboxes have such rules, and a server without one never loads what makes certificates.
    const { sandboxAuthority } = await import('@sandyard/egress-ca/sandbox-authority')
    all.push(sandboxAuthority(tokenSeed, sandboxId).certificatePem)
  }
  return all.length === 0 ? undefined : all.join('')
}
