import { AppError } from '@sandyard/kit/errors/app-error'
import type { DashboardSession } from '../sessions/dashboard-session.ts'

/**
 * Files, processes and shells of sandboxes: a key that may connect to sandboxes may use them, as it gets their tokens on the wire.
 *
 * @throws AppError `permission_denied` for a session of a key with another scope
 */
export function assertMayUseSandboxes({ principal }: Pick<DashboardSession, 'principal'>): void {
  const { scope } = principal
  if (scope === undefined || scope === 'connect') return
  throw new AppError('permission_denied', `This API key may only ${scope === 'read' ? 'read' : 'build templates'}.`)
}
