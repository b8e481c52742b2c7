import type { ApiRoute } from '../http/api-instance.ts'

/** Webhooks (dashboard-and-cli.md 2.1). */
export const webhookRoutes: readonly ApiRoute[] = []
