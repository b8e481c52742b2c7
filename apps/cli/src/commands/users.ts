import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { readEmail } from '../teams/read-arguments.ts'

const load = () => import('../teams/change-users.ts')

/** Users, in the database. */
export function registerUsers(program: Command, parts: CliParts): void {
  const users = program.command('users').description('list, create and delete users; needs the database')
  users
    .command('list')
    .alias('ls')
    .description('list users, the newest first')
    .option('--search <text>', 'only those with this text in the address')
    .action(async (options: { search?: string }) => (await load()).listUsers(parts, options))
  users
    .command('create')
    .argument('<email>', 'address of the user', readEmail)
    .description('create a user; `teams add-member` makes the user a member of a team')
    .action(async (email: string) => (await load()).makeUser(parts, email))
  users
    .command('delete')
    .argument('<user>', 'address or id of the user')
    .description('delete a user with the access tokens; API keys stay; asks first')
    .option('--yes', 'do not ask')
    .action(async (user: string, options: { yes?: boolean }) => (await load()).removeUser(parts, user, options))
}
