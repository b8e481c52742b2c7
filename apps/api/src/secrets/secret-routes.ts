import type { ApiRoute } from '../http/api-instance.ts'
import { identityKeysRoutes } from '../identity-tokens/routes/identity-keys.ts'
import { createSecretRoute } from './routes/create-secret.ts'
import { deleteSecretRoute } from './routes/delete-secret.ts'
import { getSecretRoute } from './routes/get-secret.ts'
import { listSecretsRoute } from './routes/list-secrets.ts'
import { updateSecretRoute } from './routes/update-secret.ts'

/** Secrets (control-plane.md 16), and what verifiers of identity tokens read. */
export const secretRoutes: readonly ApiRoute[] = [
  listSecretsRoute,
  createSecretRoute,
  getSecretRoute,
  updateSecretRoute,
  deleteSecretRoute,
  identityKeysRoutes,
]
