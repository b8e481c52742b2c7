import { createUser, deleteUser, listUserRows, type UserRow } from '@sandyard/api/teams/users'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { agoText } from '../time-text.ts'
import { chooseUser } from './choose-user.ts'

const MOST_LISTED = 10_000

export async function listUsers(parts: CliParts, { search }: { readonly search?: string }): Promise<void> {
  const { db } = await parts.database()
  const rows = (await listUserRows(db, { after: undefined, limit: MOST_LISTED, search })).slice(0, MOST_LISTED)
  const { output } = parts
  output.result(rows.map(toView), () => {
    output.table(
      ['ID', 'EMAIL', 'CREATED'],
      rows.map(({ id, email, created_at: createdAt }) => [id, email, agoText(createdAt.toISOString())]),
    )
    if (rows.length === 0) output.say('There are no such users.')
  })
}

export async function makeUser(parts: CliParts, email: string): Promise<void> {
  const database = await parts.database()
  const row = await database.transaction((tx) => createUser(tx, email))
  parts.output.result(toView(row), () => parts.output.line(row.id))
}

export async function removeUser(parts: CliParts, named: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  const { db } = await parts.database()
  const { id, email } = await chooseUser(db, named)
  await confirm(parts, `Delete the user ${email} with the access tokens?`, yes)
  if (!(await deleteUser(db, id))) throw new CliFailure(EXIT.notFound, `The user ${email} was deleted meanwhile.`)
  parts.output.result({ id, email }, () => parts.output.line(`${email} deleted`))
}

function toView({ id, email, created_at: createdAt }: UserRow) {
  return { id, email, createdAt: createdAt.toISOString() }
}
