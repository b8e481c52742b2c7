import { createTeam, type NewTeam } from '@sandyard/api/teams/create-team'
import { deleteTeam } from '@sandyard/api/teams/delete-team'
import { listTeamRows, type TeamRow } from '@sandyard/api/teams/team-rows'
import { updateTeam, type TeamChange } from '@sandyard/api/teams/update-team'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { chooseTeam, turnOf } from '../keys/choose-team.ts'
import { agoText } from '../time-text.ts'

/** More than an installation can have by hand. */
const MOST_LISTED = 10_000

export async function listTeams(parts: CliParts, { search }: { readonly search?: string }): Promise<void> {
  const { db } = await parts.database()
  const rows = (await listTeamRows(db, { after: undefined, limit: MOST_LISTED, search })).slice(0, MOST_LISTED)
  const { output } = parts
  output.result(rows.map(toView), () => {
    output.table(
      ['ID', 'SLUG', 'NAME', 'EMAIL', 'STATE', 'CREATED'],
      rows.map((row) => [row.id, row.slug, row.name, row.email, stateOf(row), agoText(row.created_at.toISOString())]),
    )
    if (rows.length === 0) output.say('There are no such teams.')
  })
}

export async function makeTeam(parts: CliParts, team: NewTeam): Promise<void> {
  const database = await parts.database()
  tellTeam(parts, await database.transaction((tx) => createTeam(tx, team)))
}

/** Changes a team that is named by its slug or id; servers hear of it at once. */
export async function changeTeam(parts: CliParts, named: string, change: TeamChange): Promise<void> {
  const database = await parts.database()
  const team = await chooseTeam(parts, database.db, named)
  tellTeam(parts, await updateTeam(database, turnOf(team), change))
}

export async function removeTeam(parts: CliParts, named: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  const database = await parts.database()
  const team = await chooseTeam(parts, database.db, named)
  const { id, slug } = team
  await confirm(parts, `Delete the team ${slug} with its keys and memberships?`, yes)
  await deleteTeam(database, turnOf(team))
  parts.output.result({ id, slug }, () => parts.output.line(`${slug} deleted`))
}

function tellTeam({ output }: CliParts, row: TeamRow): void {
  output.result(toView(row), () =>
    output.pairs([
      ['id', row.id],
      ['slug', row.slug],
      ['name', row.name],
      ['email', row.email],
      ['state', stateOf(row)],
    ]),
  )
}

function toView(row: TeamRow) {
  const { id, slug, name, email, is_banned: isBanned, is_blocked: isBlocked, blocked_reason: blockedReason } = row
  return { id, slug, name, email, isBanned, isBlocked, blockedReason, createdAt: row.created_at.toISOString() }
}

function stateOf({ is_banned: isBanned, is_blocked: isBlocked, blocked_reason: reason }: TeamRow): string {
  if (isBanned) return 'banned'
  if (!isBlocked) return 'active'
  return reason === null ? 'blocked' : `blocked: ${reason}`
}
