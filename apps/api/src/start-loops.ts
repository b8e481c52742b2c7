import { listen } from '@sandyard/db/listen'
import { CHANNELS, type Channel } from '@sandyard/db/notify'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { startBuildLoops } from './builds/build-loops.ts'
import { startDashboardLoops } from './dashboard/dashboard-loops.ts'
import { toDashboardChange, toEventChange } from './dashboard/live/change-feed.ts'
import { toldKind, type Event } from './events/event-log.ts'
import { startMetricLoops } from './sandbox-metrics/metric-loops.ts'
import type { RefusedEgress } from './sandboxes/network/refused-egress.ts'
import { startSandboxLoops, type SandboxLoops } from './sandboxes/repair/sandbox-loops.ts'
import { startSecretLoops } from './secrets/secret-loops.ts'
import { PUBLISH_EVERY_MS, publishEgressGateway } from './settings/publish-egress-gateway.ts'
import type { UploadFolder } from './uploads/upload-folder.ts'
import { startVolumeLoops } from './volumes/collect-volumes.ts'
import type { AttemptResult } from './webhooks/end-attempt.ts'
import { followHost } from './webhooks/follow-host.ts'
import { startWebhookLoops } from './webhooks/webhook-loops.ts'
import type { AppContext } from './context.ts'

const REFUSALS_EVERY_MS = 3000
const UPGRADE_EVERY_MS = 3_600_000
/** Twice in the second in which a deleted key must end. */
const HEARD_EVERY_MS = 450
/** Events after which a sandbox may end sooner than any that the reaper knows of. */
const SETS_END_TIME: ReadonlySet<string> = new Set<Event['kind']>([
  'sandbox.running',
  'sandbox.resumed',
  'sandbox.timeout_changed',
  'sandbox.snapshotted',
])
/** Events after which the pool wants sandboxes of another build. */
const MOVES_DEMAND: ReadonlySet<string> = new Set<Event['kind']>([
  'template.built',
  'template.tagged',
  'template.untagged',
  'template.deleted',
])

/** What only loops use. */
export interface LoopParts {
  readonly folder: UploadFolder
  readonly refused: RefusedEgress
}

/** Starts the background work of a server, and returns when it hears of changes. `shutdown` stops it in order. */
export async function startLoops(context: AppContext, { folder, refused }: LoopParts, shutdown: Shutdown): Promise<void> {
  const { database, runtime, auth, log, engineId, sandboxes, config, placement, feed } = context
  const builds = startBuildLoops({
    database,
    runtime,
    tokenSeed: context.installation.tokenSeed,
    runner: context.buildRunner,
    serverId: context.sandboxes.serverId,
    placement,
    config: context.config.builds,
    retention: context.config.retention,
    folder,
    hasMemory: () => sandboxes.admission.hasMemory(),
    log: log.builds,
    onAttemptEnd: (outcome, ms) => context.metrics.buildAttempts.observe({ outcome }, ms / 1000),
  })

  const following = await followHost(database.db, context.webhooks.targets, log.database)
  shutdown.add('host addresses', () => following.stop())
  const { outbound, keyRing } = config
  const onResult = (result: AttemptResult): void => context.metrics.webhookAttempts.inc({ result })
  const webhooks = startWebhookLoops(
    { ...context.webhooks, ...config.webhooks, database, outbound, keyRing, log: log.sandboxes, onResult },
    shutdown,
  )

  const loops: Partial<SandboxLoops> = {}
  // A read that fails is made up for by the next heartbeat.
  const readOrder = (): void =>
    void placement
      .read(database.db, sandboxes.serverId)
      .catch((err: unknown) => log.database.warn({ err }, 'the order of this server could not be read'))
  const heard: Partial<Record<Channel, (payload: string) => void>> = {
    [CHANNELS.authChanged]: () => {
      auth.cache.clear()
      feed.tell({ kind: 'auth' })
    },
    [CHANNELS.buildChanged]: (buildId) => {
      builds.onBuildChanged(buildId)
      feed.tell({ kind: 'build', id: buildId, teamId: undefined })
    },
    [CHANNELS.nodeChanged]: (serverId) => {
      if (serverId === String(sandboxes.serverId)) readOrder()
    },
    [CHANNELS.routeChanged]: (sandboxId) => {
      sandboxes.changes.notify(sandboxId)
      feed.tell({ kind: 'sandbox', id: sandboxId, teamId: undefined })
    },
    [CHANNELS.webhookDue]: () => webhooks.onDue(),
    [CHANNELS.eventAppended]: (payload) => {
      feed.tellOf(toEventChange(payload))
      const kind = toldKind(payload) ?? ''
      if (SETS_END_TIME.has(kind)) loops.onEndTime?.()
      if (MOVES_DEMAND.has(kind)) context.pool.look()
    },
    [CHANNELS.dashboardChanged]: (payload) => feed.tellOf(toDashboardChange(payload)),
  }
  const listener = listen({
    url: database.directUrl,
    applicationName: 'sandyard-api-listen',
    channels: Object.keys(heard) as Channel[],
    log: log.database,
    onNotification: (channel, payload) => heard[channel]?.(payload),
    // A server that hears of no deleted key must not remember it.
    onLost: () => auth.cache.suspend(),
    onAlive: (sentAt) => auth.cache.heard(sentAt),
    checkEveryMs: HEARD_EVERY_MS,
    onRefresh: () => {
      auth.cache.resume()
      sandboxes.changes.notifyAll()
      feed.tell({ kind: 'all' })
      builds.onRefresh()
      loops.onEndTime?.()
      context.pool.look()
      readOrder()
    },
  })
  shutdown.add('listener', () => listener[Symbol.asyncDispose]())

  const pausedMemoryBytes = Math.floor(runtime.host().memoryBytes * config.pausedMemoryShare)
  Object.assign(loops, startSandboxLoops({ ...sandboxes, engineId, retention: config.retention, pausedMemoryBytes }, shutdown))
  startSecretLoops({ database, ring: config.keyRing, log: log.database }, shutdown)
  context.pool.start()
  shutdown.add('warm pool', () => context.pool.stop())
  const publishing = runLoop({ name: 'egress gateway address', everyMs: PUBLISH_EVERY_MS, log: log.sandboxes }, () =>
    publishEgressGateway(database.db, runtime.capabilities().egressGateway),
  )
  shutdown.add('egress gateway address', () => publishing.stop())
  const upgrades = runLoop({ name: 'ready-made templates', everyMs: UPGRADE_EVERY_MS, log: log.builds }, (signal) =>
    context.readyMade.upgrade(signal),
  )
  shutdown.add('ready-made upgrades', () => upgrades.stop())
  const refusals = runLoop({ name: 'refused egress', everyMs: REFUSALS_EVERY_MS, log: log.sandboxes }, () => refused.store(database))
  shutdown.add('refused egress', () => refusals.stop())
  const { tokenSeed } = context.installation
  const hasDiskLimit = runtime.capabilities().diskLimit
  startMetricLoops({ database, tokenSeed, hasDiskLimit, retention: config.retention, log: log.sandboxes }, shutdown)
  startDashboardLoops(context, shutdown)
  startVolumeLoops({ database, runtime, log: log.sandboxes }, shutdown)
  shutdown.add('builds', () => builds.stop())
  void auth.oidc?.warmUp()
  await listener.ready
}
