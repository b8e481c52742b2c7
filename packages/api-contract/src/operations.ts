import { administrationOperations } from './operations/administration-operations.ts'
import { dashboardOperations } from './operations/dashboard-operations.ts'
import { sandboxOperations } from './operations/sandbox-operations.ts'
import { serverOperations } from './operations/server-operations.ts'
import { storageOperations } from './operations/storage-operations.ts'
import { templateOperations } from './operations/template-operations.ts'
import { webhookOperations } from './operations/webhook-operations.ts'

/** Every operation of the control plane, served or not: control-plane.md 4 and the additions of clients-python-2.63.md 7; the backend of upstream's dashboard. */
export const OPERATIONS = [
  ...serverOperations,
  ...sandboxOperations,
  ...templateOperations,
  ...storageOperations,
  ...administrationOperations,
  ...webhookOperations,
  ...dashboardOperations,
] as const

export type OperationId = (typeof OPERATIONS)[number]['id']
