import type { Operation } from '../operation.ts'

/** The administration of teams and users, which the interface does not have. */
export const administrationOperations = [
  ours('adminListTeams', 'GET', '/admin/teams', 'Lists teams, the newest first'),
  ours('adminCreateTeam', 'POST', '/admin/teams', 'Creates a team'),
  ours('adminGetTeam', 'GET', '/admin/teams/{teamID}', 'Shows a team and its limits'),
  ours('adminUpdateTeam', 'PATCH', '/admin/teams/{teamID}', 'Renames, bans or blocks a team, or changes its limits'),
  ours('adminDeleteTeam', 'DELETE', '/admin/teams/{teamID}', 'Deletes a team that has nothing left'),
  ours('adminListMembers', 'GET', '/admin/teams/{teamID}/members', 'Lists the members of a team, the newest first'),
  ours('adminPutMember', 'PUT', '/admin/teams/{teamID}/members/{userID}', 'Makes a user a member of a team'),
  ours('adminDeleteMember', 'DELETE', '/admin/teams/{teamID}/members/{userID}', 'Ends the membership of a user in a team'),
  ours('adminListUsers', 'GET', '/admin/users', 'Lists users, the newest first'),
  ours('adminCreateUser', 'POST', '/admin/users', 'Creates a user'),
  ours('adminGetUser', 'GET', '/admin/users/{userID}', 'Shows a user'),
  ours('adminDeleteUser', 'DELETE', '/admin/users/{userID}', 'Deletes a user with the access tokens; API keys stay'),
  {
    id: 'getTeamLimits',
    method: 'GET',
    path: '/teams/{teamID}/limits',
    auth: 'T',
    tag: 'teams',
    whileBlocked: true,
    ours: true,
    summary: 'Shows the limits of the team and what is used of them',
  },
] as const satisfies readonly Operation[]

function ours<const Id extends string, const Method extends Operation['method']>(id: Id, method: Method, path: string, summary: string) {
  return { id, method, path, auth: 'A', tag: 'administration', ours: true, summary } as const
}
