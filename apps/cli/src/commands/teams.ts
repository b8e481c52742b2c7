import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { readEmail, readReason, readSlug, readTeamName } from '../teams/read-arguments.ts'

const TEAM = 'slug or id of the team'
const USER = 'address or id of the user'

const loadTeams = () => import('../teams/change-team.ts')
const loadMembers = () => import('../teams/change-members.ts')
const loadWork = () => import('../teams/end-work.ts')

/** Teams and their members, in the database; `kill` and `cancel-builds` go through the API. */
export function registerTeams(program: Command, parts: CliParts): void {
  const teams = program.command('teams').description('list, create, change, block and delete teams, and their members; needs the database')
  registerChanges(teams, parts)
  registerMembers(teams, parts)
  teams
    .command('kill')
    .argument('<team>', TEAM)
    .description('kill the running sandboxes of a team; paused ones stay; asks first; needs SANDYARD_ADMIN_TOKEN')
    .option('--yes', 'do not ask')
    .action(async (team: string, options: { yes?: boolean }) => (await loadWork()).killAll(parts, team, options))
  teams
    .command('cancel-builds')
    .argument('<team>', TEAM)
    .description('cancel the unfinished builds of a team; asks first; needs SANDYARD_ADMIN_TOKEN')
    .option('--yes', 'do not ask')
    .action(async (team: string, options: { yes?: boolean }) => (await loadWork()).cancelBuilds(parts, team, options))
}

function registerChanges(teams: Command, parts: CliParts): void {
  teams
    .command('list')
    .alias('ls')
    .description('list teams, the newest first')
    .option('--search <text>', 'only those with this text in the name, the slug or the address')
    .action(async (options: { search?: string }) => (await loadTeams()).listTeams(parts, options))
  teams
    .command('create')
    .argument('<name>', 'name of the team', readTeamName)
    .description('create a team; its limits are those of the settings')
    .requiredOption('--email <address>', 'who is responsible for it', readEmail)
    .option('--slug <slug>', 'namespace of its template names; made from the name when absent', readSlug)
    .action(async (name: string, options: { email: string; slug?: string }) => (await loadTeams()).makeTeam(parts, { name, ...options }))
  teams
    .command('rename')
    .argument('<team>', TEAM)
    .argument('<name>', 'the new name', readTeamName)
    .description('give a team another name; its slug stays')
    .action(async (team: string, name: string) => (await loadTeams()).changeTeam(parts, team, { name }))
  teams
    .command('block')
    .argument('<team>', TEAM)
    .description('let a team only read and delete')
    .option('--reason <text>', 'shown to the team', readReason)
    .action(async (team: string, { reason }: { reason?: string }) =>
      (await loadTeams()).changeTeam(parts, team, { isBlocked: true, ...(reason !== undefined && { blockedReason: reason }) }),
    )
  teams
    .command('unblock')
    .argument('<team>', TEAM)
    .description('end the block of a team')
    .action(async (team: string) => (await loadTeams()).changeTeam(parts, team, { isBlocked: false, blockedReason: null }))
  teams
    .command('ban')
    .argument('<team>', TEAM)
    .description('refuse every request of a team')
    .action(async (team: string) => (await loadTeams()).changeTeam(parts, team, { isBanned: true }))
  teams
    .command('unban')
    .argument('<team>', TEAM)
    .description('end the ban of a team')
    .action(async (team: string) => (await loadTeams()).changeTeam(parts, team, { isBanned: false }))
  teams
    .command('delete')
    .argument('<team>', TEAM)
    .description('delete a team that has no sandboxes, builds, templates and volumes; asks first')
    .option('--yes', 'do not ask')
    .action(async (team: string, options: { yes?: boolean }) => (await loadTeams()).removeTeam(parts, team, options))
}

function registerMembers(teams: Command, parts: CliParts): void {
  teams
    .command('members')
    .argument('<team>', TEAM)
    .description('list the members of a team')
    .action(async (team: string) => (await loadMembers()).showMembers(parts, team))
  teams
    .command('add-member')
    .argument('<team>', TEAM)
    .argument('<user>', USER)
    .description('make a user a member of a team; the first team of a user is the default one')
    .option('--default', 'make it the default team of the user')
    .action(async (team: string, user: string, options: { default?: true }) =>
      (await loadMembers()).addMember(parts, { team, user }, options.default),
    )
  teams
    .command('remove-member')
    .argument('<team>', TEAM)
    .argument('<user>', USER)
    .description('end the membership of a user')
    .action(async (team: string, user: string) => (await loadMembers()).dropMember(parts, { team, user }))
}
