import { listMembers, putMember, removeMember } from '@sandyard/api/teams/members'
import type { CliParts } from '../cli-parts.ts'
import { chooseTeam } from '../keys/choose-team.ts'
import { agoText } from '../time-text.ts'
import { chooseUser } from './choose-user.ts'

const MOST_LISTED = 10_000

export async function showMembers(parts: CliParts, named: string): Promise<void> {
  const { db } = await parts.database()
  const { id } = await chooseTeam(parts, db, named)
  const rows = (await listMembers(db, id, { after: undefined, limit: MOST_LISTED })).slice(0, MOST_LISTED)
  const members = rows.map((row) => ({
    id: row.user_id,
    email: row.email,
    isDefault: row.is_default,
    createdAt: row.created_at.toISOString(),
  }))
  const { output } = parts
  output.result(members, () => {
    output.table(
      ['USER', 'EMAIL', 'DEFAULT TEAM', 'MEMBER SINCE'],
      members.map((member) => [member.id, member.email, member.isDefault ? 'yes' : 'no', agoText(member.createdAt)]),
    )
    if (members.length === 0) output.say('The team has no members.')
  })
}

export interface MemberNames {
  readonly team: string
  /** Address or id. */
  readonly user: string
}

export async function addMember(parts: CliParts, names: MemberNames, isDefault: boolean | undefined): Promise<void> {
  const database = await parts.database()
  const team = await chooseTeam(parts, database.db, names.team)
  const user = await chooseUser(database.db, names.user)
  await putMember(database, { teamId: team.id, userId: user.id }, isDefault)
  parts.output.result({ team: team.slug, user: user.id }, () => parts.output.line(`${user.email} is a member of ${team.slug}`))
}

export async function dropMember(parts: CliParts, names: MemberNames): Promise<void> {
  const database = await parts.database()
  const team = await chooseTeam(parts, database.db, names.team)
  const user = await chooseUser(database.db, names.user)
  await removeMember(database, { teamId: team.id, userId: user.id })
  parts.output.result({ team: team.slug, user: user.id }, () => parts.output.line(`${user.email} is no member of ${team.slug}`))
}
