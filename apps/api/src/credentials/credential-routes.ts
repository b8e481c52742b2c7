import type { ApiRoute } from '../http/api-instance.ts'

/** Keys and access tokens (control-plane.md 14). */
export const credentialRoutes: readonly ApiRoute[] = []
