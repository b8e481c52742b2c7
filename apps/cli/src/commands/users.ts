import type { Command } from 'commander'
import { createUser, deleteUser, listUserRows, type UserRow } from '@sandyard/api/teams/users'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { chooseUser } from '../teams/choose-user.ts'
import { readEmail } from '../teams/read-arguments.ts'
import { agoText } from '../time-text.ts'

const MOST_LISTED = 10_000

/** Users, in the database. */
export function registerUsers(program: Command, parts: CliParts): void {
  const users = program.command('users').description('list, create and delete users; needs the database')
  users
    .command('list')
    .alias('ls')
    .description('list users, the newest first')
    .option('--search <text>', 'only those with this text in the address')
    .action((options: { search?: string }) => list(parts, options))
  users
    .command('create')
    .argument('<email>', 'address of the user', readEmail)
    .description('create a user; `teams add-member` makes the user a member of a team')
    .action((email: string) => create(parts, email))
  users
    .command('delete')
    .argument('<user>', 'address or id of the user')
    .description('delete a user with the access tokens; API keys stay; asks first')
    .option('--yes', 'do not ask')
    .action((user: string, options: { yes?: boolean }) => remove(parts, user, options))
}

async function list(parts: CliParts, { search }: { readonly search?: string }): Promise<void> {
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

async function create(parts: CliParts, email: string): Promise<void> {
  const database = await parts.database()
  const row = await database.transaction((tx) => createUser(tx, email))
  parts.output.result(toView(row), () => parts.output.line(row.id))
}

async function remove(parts: CliParts, named: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  const { db } = await parts.database()
  const { id, email } = await chooseUser(db, named)
  await confirm(parts, `Delete the user ${email} with the access tokens?`, yes)
  if (!(await deleteUser(db, id))) throw new CliFailure(EXIT.notFound, `The user ${email} was deleted meanwhile.`)
  parts.output.result({ id, email }, () => parts.output.line(`${email} deleted`))
}

function toView({ id, email, created_at: createdAt }: UserRow) {
  return { id, email, createdAt: createdAt.toISOString() }
}
