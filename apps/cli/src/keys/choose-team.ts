import type { TeamTurn } from '@sandyard/api/teams/team-transaction'
import type { Db } from '@sandyard/db/database'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { findKey, findTeam, listTeams, type TeamChoice } from './key-queries.ts'

const MOST_NAMED = 20

/**
 * The team that was named by its slug or id, else that of the current key, else the only one.
 *
 * @throws CliFailure `notFound` for an unknown name; `usage` when there are several
 */
export async function chooseTeam({ connection }: CliParts, db: Db, named: string | undefined): Promise<TeamChoice> {
  if (named !== undefined) {
    const team = await findTeam(db, named)
    if (team === undefined) throw new CliFailure(EXIT.notFound, `There is no team "${named}". Teams: ${await slugs(db)}.`)
    return team
  }
  const current = connection.apiKey && (await findKey(db, connection.apiKey.reveal()))
  if (current !== undefined) return current.team
  const [only, another] = await listTeams(db, 2)
  if (only !== undefined && another === undefined) return only
  throw new CliFailure(EXIT.usage, `Name the team with --team: ${await slugs(db)}.`)
}

/** A chosen team, for a change of it. */
export function turnOf({ id: teamId, slug }: TeamChoice): TeamTurn {
  return { teamId, onGone: () => new CliFailure(EXIT.notFound, `The team ${slug} was deleted meanwhile.`) }
}

async function slugs(db: Db): Promise<string> {
  const teams = await listTeams(db, MOST_NAMED + 1)
  const shown = teams.slice(0, MOST_NAMED).map(({ slug }) => slug)
  return [...shown, ...(teams.length > MOST_NAMED ? ['...'] : [])].join(', ')
}
