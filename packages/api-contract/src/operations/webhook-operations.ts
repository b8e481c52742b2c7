import type { Operation } from '../operation.ts'

/** Webhooks (dashboard-and-cli.md 2.1). */
export const webhookOperations = [] as const satisfies readonly Operation[]
