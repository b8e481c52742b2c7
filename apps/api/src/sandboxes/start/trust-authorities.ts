import { sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import { daemonIdentity } from '../../daemon/daemon-identity.ts'
import { trustAuthority } from '../../daemon/init-daemon.ts'
import { accessToken, authoritiesOf, type SandboxSource, type TrustParts } from './sandbox-spec.ts'

type Trusting = Pick<SandboxSource, 'sandboxId' | 'incarnation' | 'templateId' | 'isSecure' | 'network'> & {
  readonly build: Pick<SandboxSource['build'], 'buildId'>
}

/**
 * Lets a sandbox whose processes have gone on trust the authorities of the installation, and its own if its network has header rules. Does nothing
 * where it does already.
 *
 * @throws AppError of `/init`; the abort reason
 */
export async function trustAuthorities(parts: TrustParts, source: Trusting, endpoint: SandboxEndpoint, signal: AbortSignal): Promise<void> {
  const caBundle = await authoritiesOf(source, parts)
  if (caBundle === undefined) return
  const { sandboxId, templateId, build } = source
  const { tokenSeed } = parts
  const token = accessToken(source, tokenSeed)
  const identity = daemonIdentity({ sandboxId, templateId, buildId: build.buildId }, tokenSeed)
  const trust = { identity, caBundle, ...(token !== undefined && { accessToken: token }) }
  await trustAuthority({ endpoint, instanceKey: sandboxInstanceKey(tokenSeed, source) }, trust, signal)
}
