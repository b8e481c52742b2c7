import type { Operation } from '../operation.ts'

/** The administration of teams and users, which the interface does not have. */
export const administrationOperations = [] as const satisfies readonly Operation[]
