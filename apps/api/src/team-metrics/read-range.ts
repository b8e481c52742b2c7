import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam, type Principal } from '../auth/principal.ts'
import { isInDates, isReversed, type TimeRange } from '../time-series/time-range.ts'
import type { SeriesRange } from './team-series.ts'

const WEEK_SECONDS = 7 * 24 * 3600

/**
 * The caller's team, if it is the team of the path.
 *
 * @throws AppError `permission_denied` (control-plane.md 5.3)
 */
export function getOwnTeamId(principal: Principal | null, pathTeamId: string, what: 'metrics' | 'limits' = 'metrics'): string {
  const { id } = getTeam(principal)
  if (pathTeamId.toLowerCase() === id) return id
  throw new AppError('permission_denied', `You (${id}) are not authorized to access this team's (${pathTeamId}) ${what}`)
}

/**
 * The range of a request: by default the 7 days before the end, which is now by default.
 *
 * @throws AppError `invalid_argument` (control-plane.md 5.3)
 */
export function readRange(query: TimeRange): SeriesRange {
  if (!isInDates(query)) throw new AppError('invalid_argument', 'start and end time must be before the year 10000')
  const end = query.end ?? Math.floor(Date.now() / 1000)
  const start = query.start ?? Math.max(0, end - WEEK_SECONDS)
  if (isReversed({ start, end })) throw new AppError('invalid_argument', 'start time cannot be after end time')
  return { start, end }
}
