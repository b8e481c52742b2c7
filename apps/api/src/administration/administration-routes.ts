import type { ApiRoute } from '../http/api-instance.ts'
import { adminListTeamsRoute } from './routes/list-teams.ts'
import { adminCreateTeamRoute } from './routes/create-team.ts'
import { adminGetTeamRoute } from './routes/get-team.ts'
import { adminUpdateTeamRoute } from './routes/update-team.ts'
import { adminDeleteTeamRoute } from './routes/delete-team.ts'
import { adminListMembersRoute } from './routes/list-members.ts'
import { adminPutMemberRoute } from './routes/put-member.ts'
import { adminDeleteMemberRoute } from './routes/delete-member.ts'
import { adminListUsersRoute } from './routes/list-users.ts'
import { adminCreateUserRoute } from './routes/create-user.ts'
import { adminGetUserRoute } from './routes/get-user.ts'
import { adminDeleteUserRoute } from './routes/delete-user.ts'
import { killTeamSandboxesRoute } from './routes/kill-team-sandboxes.ts'
import { cancelTeamBuildsRoute } from './routes/cancel-team-builds.ts'
import { getRunningCountsRoute } from './routes/get-running-counts.ts'
import { listNodesRoute } from './routes/list-nodes.ts'
import { getNodeRoute } from './routes/get-node.ts'
import { updateNodeRoute } from './routes/update-node.ts'

/** Nodes and administration (control-plane.md 13), and the administration of teams and users, which is ours. */
export const administrationRoutes: readonly ApiRoute[] = [
  listNodesRoute,
  getNodeRoute,
  updateNodeRoute,
  adminListTeamsRoute,
  adminCreateTeamRoute,
  adminGetTeamRoute,
  adminUpdateTeamRoute,
  adminDeleteTeamRoute,
  adminListMembersRoute,
  adminPutMemberRoute,
  adminDeleteMemberRoute,
  adminListUsersRoute,
  adminCreateUserRoute,
  adminGetUserRoute,
  adminDeleteUserRoute,
  killTeamSandboxesRoute,
  cancelTeamBuildsRoute,
  getRunningCountsRoute,
]
