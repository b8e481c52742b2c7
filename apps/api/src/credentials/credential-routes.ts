import type { ApiRoute } from '../http/api-instance.ts'
import { createAccessTokenRoute } from './routes/create-access-token.ts'
import { createApiKeyRoute } from './routes/create-api-key.ts'
import { createTeamApiKeyRoute } from './routes/create-team-api-key.ts'
import { deleteAccessTokenRoute } from './routes/delete-access-token.ts'
import { deleteApiKeyRoute } from './routes/delete-api-key.ts'
import { deleteTeamApiKeyRoute } from './routes/delete-team-api-key.ts'
import { listApiKeysRoute } from './routes/list-api-keys.ts'
import { listTeamApiKeysRoute } from './routes/list-team-api-keys.ts'
import { updateApiKeyRoute } from './routes/update-api-key.ts'

/** Keys and access tokens (control-plane.md 14). */
export const credentialRoutes: readonly ApiRoute[] = [
  listApiKeysRoute,
  createApiKeyRoute,
  updateApiKeyRoute,
  deleteApiKeyRoute,
  createAccessTokenRoute,
  deleteAccessTokenRoute,
  listTeamApiKeysRoute,
  createTeamApiKeyRoute,
  deleteTeamApiKeyRoute,
]
