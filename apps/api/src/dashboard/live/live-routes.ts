import type { ApiRoute } from '../../http/api-instance.ts'

/** `GET /api/live` and the lists of terminals and recordings. */
export const liveRoutes: readonly ApiRoute[] = []
