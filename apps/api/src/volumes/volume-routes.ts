import type { ApiRoute } from '../http/api-instance.ts'

/** Volumes and their content (control-plane.md 15). */
export const volumeRoutes: readonly ApiRoute[] = []
