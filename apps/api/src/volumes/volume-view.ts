import type { Volume as VolumeBody, VolumeAndToken } from '@sandyard/api-contract/volumes/volume'
import { grantorOf } from '../auth/grantor.ts'
import { getTeam, requirePrincipal, type Principal } from '../auth/principal.ts'
import type { AppContext } from '../context.ts'
import { issueContentToken } from './content-token.ts'
import type { Volume } from './volume-queries.ts'

export function toVolume({ volumeId, name }: Volume): VolumeBody {
  return { volumeID: volumeId, name }
}

/** With a new token. A credential that is limited to something gets one that only reads. */
export async function toVolumeAndToken(
  { view, runtime }: Pick<AppContext, 'view' | 'runtime'>,
  principal: Principal | null,
  volume: Volume,
): Promise<VolumeAndToken> {
  const team = getTeam(principal)
  const access = principal?.scope === undefined ? 'rw' : 'r'
  const grant = { teamId: team.id, volumeId: volume.volumeId, access, grantor: grantorOf(requirePrincipal(principal)) } as const
  const token = await issueContentToken(view, grant, { type: runtime.name, endsWith: principal?.expiresAt })
  return { ...toVolume(volume), token }
}
