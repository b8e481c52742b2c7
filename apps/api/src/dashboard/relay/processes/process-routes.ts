import { ProcessParams, SignalBody } from '@sandyard/dashboard-contract/processes'
import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { callDaemon } from '../call-daemon.ts'
import { getReachable } from '../sandbox-daemon.ts'
import { CpuShares } from './cpu-shares.ts'
import { listPorts } from './list-ports.ts'
import { listProcesses } from './list-processes.ts'

/** Processes and ports of a sandbox. */
export const processRoutes: ApiRoute = (app, ctx) => {
  const { database } = ctx
  const parts = { database, tokenSeed: ctx.installation.tokenSeed }
  const shares = new CpuShares()
  const scheme = ctx.config.builds.apiUrl?.startsWith('https:') === true ? 'https' : 'http'
  const urlOf = (port: number, sandboxId: string): string => `${scheme}://${port}-${sandboxId}.${ctx.config.domain}`
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/processes',
    schema: { params: SandboxParams },
    whileBlocked: false,
    handle: async ({ team, params, signal }) => listProcesses(await getReachable(parts, team.id, params.sandboxId), shares, signal),
  })
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/ports',
    schema: { params: SandboxParams },
    whileBlocked: false,
    handle: async ({ team, params, signal }) => listPorts(await getReachable(parts, team.id, params.sandboxId), urlOf, signal),
  })
  registerTeamRoute(app, {
    operation: 'POST /sandboxes/{sandboxId}/processes/{pid}/signal',
    schema: { params: ProcessParams, body: SignalBody },
    whileBlocked: false,
    handle: async ({ team, params, body, signal }) => {
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      const { Signal } = await import('@sandyard/daemon-protocol/process/process_pb')
      const process = { selector: { case: 'pid', value: params.pid } } as const
      await callDaemon(daemon, { signal }, ({ processes }, options) =>
        processes.sendSignal({ process, signal: Signal[body.signal] }, options),
      )
      return undefined
    },
  })
}
