import type { ApiRoute } from '../http/api-instance.ts'

/** Nodes and administration (control-plane.md 13), and the administration of teams and users, which is ours. */
export const administrationRoutes: readonly ApiRoute[] = []
