import type { FastifyRequest } from 'fastify'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import { teamBanned, teamBlocked } from '../../auth/auth-errors.ts'
import { isStillGranted } from '../../auth/grantor.ts'
import { readContentToken, type ContentGrant, type TokenParts } from '../content-token.ts'

const BEARER = /^Bearer +(\S+)$/i

/**
 * Checks the token of a request for the content of a volume. It is looked up each time whether the volume is there, its team may use it, and who asked
 * for the token still could.
 *
 * @throws AppError `unauthenticated` without a valid token, or one of a credential that has ended, `permission_denied` for that of another volume, one that only reads or a blocked team,
 * `not_found` for a deleted volume (control-plane.md 15.4)
 */
export async function authorizeContent(db: Db, parts: TokenParts, request: FastifyRequest): Promise<void> {
  const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? []
  if (token === undefined) throw new AppError('unauthenticated', 'The content of a volume needs its token: Authorization: Bearer <token>')
  const grant = await readContentToken(parts, token)
  noteTeam(grant.teamId)
  const { volumeID } = request.params as { readonly volumeID: string }
  if (grant.volumeId !== volumeID.toLowerCase()) throw new AppError('permission_denied', 'The token is that of another volume')
  if (grant.access === 'r' && request.method !== 'GET') throw new AppError('permission_denied', 'The token allows no changes')
  await checkVolume(db, grant)
}

async function checkVolume(db: Db, { teamId, volumeId, grantor }: ContentGrant): Promise<void> {
  const team = await db
    .selectFrom('volume')
    .innerJoin('team', 'team.id', 'volume.team_id')
    .select(['team.is_banned', 'team.is_blocked', 'team.blocked_reason'])
    .select(isStillGranted(grantor, teamId).as('is_granted'))
    .where('volume_id', '=', volumeId)
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (team === undefined) throw new AppError('not_found', 'Volume not found', { reason: 'VOLUME_NOT_FOUND' })
  if (!team.is_granted) throw new AppError('unauthenticated', 'The credential that asked for the token of the volume has ended')
  if (team.is_banned) throw teamBanned()
  if (team.is_blocked) throw teamBlocked(team.blocked_reason ?? undefined)
}
