import type { Db } from '@sandyard/db/database'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { findKey, listTeams, type TeamChoice } from './key-queries.ts'

/**
 * The team that was named by its slug or id, else that of the current key, else the only one.
 *
 * @throws CliFailure `notFound` for an unknown name; `usage` when there are several
 */
export async function chooseTeam({ connection }: CliParts, db: Db, named: string | undefined): Promise<TeamChoice> {
  const teams = await listTeams(db)
  if (named !== undefined) {
    const team = teams.find(({ id, slug }) => id === named || slug === named)
    if (team === undefined) throw new CliFailure(EXIT.notFound, `There is no team "${named}". Teams: ${slugs(teams)}.`)
    return team
  }
  const current = connection.apiKey && (await findKey(db, connection.apiKey.reveal()))
  if (current !== undefined) return current.team
  const [only] = teams
  if (only !== undefined && teams.length === 1) return only
  throw new CliFailure(EXIT.usage, `Name the team with --team: ${slugs(teams)}.`)
}

function slugs(teams: readonly TeamChoice[]): string {
  return teams.map(({ slug }) => slug).join(', ')
}
