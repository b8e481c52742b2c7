import { toOwnLimits } from '@sandyard/api/teams/team-limits'
import { updateTeam } from '@sandyard/api/teams/update-team'
import type { CliParts } from '../cli-parts.ts'
import { chooseTeam, turnOf } from '../keys/choose-team.ts'
import { sizeText } from '../size-text.ts'
import { DEFAULT, LIMITS } from './limit-options.ts'

export interface LimitOptions extends Readonly<Record<string, unknown>> {
  readonly team?: string
}

export async function changeLimits(parts: CliParts, { team: named, ...options }: LimitOptions): Promise<void> {
  const database = await parts.database()
  const team = await chooseTeam(parts, database.db, named)
  const wanted = Object.entries(LIMITS).flatMap(([name, { limit }]) =>
    name in options ? [[limit, options[name] === DEFAULT ? null : (options[name] as number)]] : [],
  )
  const row = await updateTeam(database, turnOf(team), { limits: Object.fromEntries(wanted) })
  const own = toOwnLimits(row)
  const found = Object.fromEntries(Object.entries(LIMITS).map(([name, { limit }]) => [name, own[limit] ?? null]))
  const { output } = parts
  output.result({ team: team.slug, limits: found }, () =>
    output.table(
      ['LIMIT', 'VALUE', 'WHAT'],
      Object.entries(LIMITS).map(([name, { doc, limit }]) => [name, own[limit] === undefined ? 'default' : show(name, own[limit]), doc]),
    ),
  )
}

function show(name: string, value: number): string {
  if (name === 'lifetime') return `${value}s`
  if (name === 'stored') return sizeText(value)
  return name === 'memory' || name === 'disk' ? `${value}MiB` : String(value)
}
