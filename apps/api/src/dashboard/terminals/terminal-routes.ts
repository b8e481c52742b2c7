import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import { TerminalParams } from '@sandyard/dashboard-contract/processes'
import type { AppContext } from '../../context.ts'
import type { ApiInstance } from '../../http/api-instance.ts'
import { registerTeamRoute } from '../dashboard-route.ts'
import { assertSandboxOf } from '../live/topics/topic-argument.ts'
import type { Terminals } from './terminals.ts'

/** The list of shells and their end; the rest are frames of the live socket. */
export function terminalRoutes(app: ApiInstance, { database }: Pick<AppContext, 'database'>, terminals: Terminals): void {
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/terminals',
    schema: { params: SandboxParams },
    whileBlocked: true,
    handle: async ({ team, params: { sandboxId }, signal }) => {
      await assertSandboxOf(database, team.id, sandboxId)
      return { data: await terminals.list(team.id, sandboxId, signal) }
    },
  })
  registerTeamRoute(app, {
    operation: 'DELETE /sandboxes/{sandboxId}/terminals/{terminalId}',
    schema: { params: TerminalParams },
    whileBlocked: true,
    handle: async ({ team, params, signal }) => {
      await terminals.kill(team.id, params.sandboxId, params.terminalId, signal)
      return undefined
    },
  })
}
