import type { ApiRoute } from '../http/api-instance.ts'

/** Secrets (control-plane.md 16). */
export const secretRoutes: readonly ApiRoute[] = []
