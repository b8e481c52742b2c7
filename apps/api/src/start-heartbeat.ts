import { randomUUID } from 'node:crypto'
import { RELEASE } from '@sandyard/kit/config/release'
import type { AppContext } from './context.ts'
import { Heartbeat } from './servers/heartbeat.ts'
import type { ServerFigures } from './servers/server-figures.ts'

/** Starts the lease of this server, which its sandboxes and builds belong to. */
export function startHeartbeat(context: AppContext, figures: ServerFigures): Promise<Heartbeat> {
  const { config, database, drain, engineId, log, placement, runtime, sandboxes } = context
  return Heartbeat.start({
    databaseUrl: database.directUrl,
    serverId: sandboxes.serverId,
    engineId,
    version: RELEASE,
    builds: config.builds.width,
    host: runtime.host(),
    instanceId: randomUUID(),
    vitals: () => figures.current,
    placement,
    isDraining: () => drain.isDraining,
    // Its loops would treat the sandboxes of the new engine as lost.
    onMoved: () => {
      if (!drain.isDraining) log.database.error('the installation was moved to another engine: this server serves no more requests')
      drain.begin()
      void context[Symbol.asyncDispose]()
    },
    log: log.database,
  })
}
