import type { ApiInstance } from '../../http/api-instance.ts'
import type { AppContext } from '../../context.ts'
import type { FileServices } from './file-services.ts'

/** Registers one operation on the content of volumes (control-plane.md 15.4). Its requests are authorized before. */
export type ContentRoute = (scope: ApiInstance, services: FileServices, ctx: AppContext) => void
