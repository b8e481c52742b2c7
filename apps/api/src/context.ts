import type { Database } from '@sandyard/db/database'
import { IDENTITY_ISSUER_SETTING } from '@sandyard/db/identity-issuer'
import { newServerId } from '@sandyard/db/server-lease'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { RELEASE } from '@sandyard/kit/config/release'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { openTracing } from '@sandyard/kit/tracing/open-tracing'
import { READY_MADE_FOLDER } from '@sandyard/templates/manifest'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { RefusedPackets } from '@sandyard/runtime/types'
import { Admission } from './admission/admission.ts'
import { AuditLog } from './audit/audit-log.ts'
import { AuthCache } from './auth/auth-cache.ts'
import { KeyUsage } from './auth/key-usage.ts'
import { openProvider } from './auth/oidc/open-provider.ts'
import type { SchemeParts } from './auth/schemes.ts'
import type { ApiConfig } from './config.ts'
import { JobRunner } from './dashboard/jobs/job-runner.ts'
import { ChangeFeed } from './dashboard/live/change-feed.ts'
import { HealthRuns } from './dashboard/host/health-runs.ts'
import { OrphanDesk, type OpenOrphans } from './dashboard/host/orphan-desk.ts'
import { TransferSlots } from './dashboard/relay/files/transfer-slots.ts'
import { FileServices } from './volumes/content/file-services.ts'
import { Drain } from './http/drain.ts'
import { ReadyChecks } from './http/ready-checks.ts'
import { createBuildRunner } from './builds/engine/run-build.ts'
import { FAILURES } from './builds/build-failure.ts'
import { cancelBuild } from './builds/queue/cancel-build.ts'
import type { BuildRunner } from './builds/build-runner.ts'
import { createApiLoggers, type ApiLoggers } from './loggers.ts'
import { createApiMetrics, type ApiMetrics } from './metrics/api-metrics.ts'
import { registerHealthGauges } from './metrics/health-gauges.ts'
import { ReadyMade } from './ready-made/ready-made.ts'
import type { LifecycleParts } from './sandboxes/lifecycle/lifecycle-parts.ts'
import { SandboxChanges } from './sandboxes/lifecycle/sandbox-changes.ts'
import { type LookupHost, lookupHost } from './sandboxes/network/resolve-egress-proxy.ts'
import type { TargetParts } from './webhooks/check-url.ts'
import { TargetAddresses } from './webhooks/target-addresses.ts'
import { Repairs } from './sandboxes/repair/repairs.ts'
import { EndReasons } from './sandboxes/end/end-reasons.ts'
import { InFlight } from './sandboxes/lifecycle/in-flight.ts'
import { startHeartbeat } from './start-heartbeat.ts'
import { startLoops } from './start-loops.ts'
import { StartsUnderWay } from './sandboxes/start/starts-under-way.ts'
import type { ViewParts } from './sandboxes/read/sandbox-view.ts'
import type { DeleteParts } from './templates/delete-template.ts'
import { poolBounds } from './warm-pool/pool-config.ts'
import { WarmPool } from './warm-pool/warm-pool.ts'
import { openUploads } from './uploads/open-uploads.ts'
import type { UploadStore } from './uploads/upload-store.ts'
import { bindEngine } from './servers/engine-binding.ts'
import { Placement } from './servers/placement.ts'
import { ServerFigures } from './servers/server-figures.ts'
import { ensureInstallation, type Installation } from './settings/installation.ts'
import { RefusedEgress } from './sandboxes/network/refused-egress.ts'
import { issuerOf } from './identity-tokens/issuer.ts'
import { storeSetting } from './settings/store-setting.ts'
import { publishEgressGateway } from './settings/publish-egress-gateway.ts'

/** What a runtime of this installation gets from the control plane. */
export interface RuntimeNeeds {
  readonly installation: Installation
  /** Receives a sample of the packets that sandboxes were refused. */
  readonly onRefused: (refused: readonly RefusedPackets[]) => void
}

type OpenRuntime = (needs: RuntimeNeeds) => Promise<SandboxRuntime>

/** The parts that the control plane needs. */
export interface ApiParts {
  /** Migrated to this release's schema. The caller that opened it closes it. */
  readonly database: Database
  /** A runtime, or a function that opens one for this installation. The context closes a runtime that it opened. */
  readonly runtime: SandboxRuntime | OpenRuntime
  readonly log: Logger
  /** Runs builds. Default: the build engine. */
  readonly buildRunner?: BuildRunner
  /** Looks up the hosts of egress proxies. Default: as this host does. */
  readonly lookupHost?: LookupHost
  /** The folder of the ready-made templates, and how long a request waits for a first build. Default: those of this release. */
  readonly readyMade?: { readonly folder: string; readonly waitMs?: number }
  /** What the dashboard shows operators of the host. Default: that is not served. */
  readonly host?: HostParts
}

/** The ways to the machine and the engine beyond sandboxes. */
export interface HostParts {
  /** Of the checks, which run as the command `sandyard doctor`. */
  readonly environment: Environment
  readonly openOrphans: OpenOrphans
}

/** Everything that the control plane's entry and route files work with. */
export interface AppContext extends AsyncDisposable {
  readonly config: ApiConfig
  readonly log: ApiLoggers
  readonly metrics: ApiMetrics
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly installation: Installation
  /** The engine that the database belongs to. */
  readonly engineId: string
  readonly auth: SchemeParts
  readonly audit: AuditLog
  readonly sandboxes: LifecycleParts
  readonly view: ViewParts
  readonly pool: WarmPool
  /** Whether this server takes new sandboxes and builds. */
  readonly placement: Placement
  readonly templates: DeleteParts
  readonly readyMade: ReadyMade
  readonly uploads: UploadStore
  readonly buildRunner: BuildRunner
  /** Where webhooks may be sent to. */
  readonly webhooks: TargetParts
  /** What the live topics of the dashboard hear. */
  readonly feed: ChangeFeed
  /** The connections to the files of volumes, for the interface and the dashboard. */
  readonly fileServices: FileServices
  /** Uploads and downloads of the dashboard. */
  readonly transfers: TransferSlots
  /** Runs of the checks of the host. */
  readonly health: HealthRuns
  /** What is on the engine and nothing uses. */
  readonly orphans: OrphanDesk
  /** Actions of the dashboard on many sandboxes. */
  readonly jobs: JobRunner
  /** Starts the shutdown: health checks report it, and requests in flight are finished. */
  readonly drain: Drain
  readonly ready: ReadyChecks
  /** Starts the background loops. Disposing the context stops them in order. */
  start(): Promise<void>
}

/** A create must be answered within the 60 s that clients wait (clients.md 3.8). */
const START_TIMEOUT_MS = 50_000

/**
 * Builds the control plane. Disposing it stops the loops and closes everything that was opened here.
 *
 * @throws the error of the database or the runtime if one of them does not answer
 */
export async function createContext(config: ApiConfig, parts: ApiParts): Promise<AppContext> {
  const log = createApiLoggers(parts.log)
  const shutdown = new Shutdown(log.http)
  const { database } = parts
  try {
    shutdown.add('tracing', await openTracing(config.tracing, { service: 'sandyard-api', version: RELEASE, log: log.http }))
    const installation = await ensureInstallation(database.db)
    const { concurrentSandboxes } = config.limits
    const metrics = createApiMetrics(database, { concurrentSandboxes, maxSandboxes: config.maxSandboxSeries })
    const refused = new RefusedEgress()
    const onRefused = (packets: readonly RefusedPackets[]): void => {
      for (const { rule, count } of packets) metrics.refusedPackets.inc({ rule }, count)
      refused.add(packets)
    }
    const runtime = await openRuntime(parts, { installation, onRefused }, shutdown)
    const { adoptEngine } = config
    const engineId = await bindEngine({ database, runtime, log: log.sandboxes, adoptEngine })
    await storeSetting(database.db, IDENTITY_ISSUER_SETTING, issuerOf(config))
    await publishEgressGateway(database.db, runtime.capabilities().egressGateway)
    const serverId = newServerId()
    const usage = new KeyUsage(database, log.auth)
    shutdown.add('key usage', () => usage[Symbol.asyncDispose]())
    const { tokenSeed } = installation
    const oidc = await openProvider(config, { database, log: log.auth })
    const { uploads, folder, archiveLimits } = openUploads(config, database, metrics)
    shutdown.add('uploads', () => uploads[Symbol.asyncDispose]())
    const readyMade = new ReadyMade({
      database,
      tokenSeed,
      limits: config.builds.templates,
      uploads,
      log: log.builds,
      folder: READY_MADE_FOLDER,
      ...parts.readyMade,
    })
    shutdown.add('ready-made templates', () => readyMade[Symbol.asyncDispose]())
    const { limits, adminToken, domain } = config
    const starts = new StartsUnderWay()
    const placement = new Placement()
    const drain = new Drain(() => starts.count)
    const ready = new ReadyChecks({ database, runtime, drain })
    registerHealthGauges(metrics.registry, { ready, runtime })
    const repairs = new Repairs(log.sandboxes)
    const admission = new Admission({ config: config.admission, runtime, metrics: metrics.admission, log: log.sandboxes })
    const pool = new WarmPool({
      database,
      runtime,
      serverId,
      engineId,
      tokenSeed,
      outbound: config.outbound,
      startTimeoutMs: START_TIMEOUT_MS,
      config: poolBounds(config.pool, runtime.host()),
      repairs,
      metrics: metrics.pool,
      admission,
      log: log.sandboxes,
      isBusy: () => drain.isDraining || !placement.accepts || starts.count >= runtime.host().processors,
    })
    const sandboxes: LifecycleParts = {
      database,
      runtime,
      serverId,
      tokenSeed,
      outbound: config.outbound,
      limits,
      lookupHost: parts.lookupHost ?? lookupHost,
      starts,
      admission,
      changes: new SandboxChanges(),
      repairs,
      inFlight: new InFlight(),
      endReasons: new EndReasons(runtime, log.sandboxes),
      pool,
      placement,
      readyMade,
      log: log.sandboxes,
      timings: metrics.timings,
      startTimeoutMs: START_TIMEOUT_MS,
    }
    const context: AppContext = {
      config,
      log,
      metrics,
      database,
      runtime,
      installation,
      engineId,
      auth: { database, cache: new AuthCache(), oidc, adminToken, onApiKeyUsed: (id) => usage.used(id) },
      audit: new AuditLog({ database, log: log.audit, unstored: metrics.auditUnstored }),
      sandboxes,
      view: { tokenSeed, domain },
      templates: { database, cancelBuild: (tx, buildId) => cancelBuild(tx, buildId, FAILURES.cancelled) },
      readyMade,
      uploads,
      buildRunner:
        parts.buildRunner ??
        createBuildRunner({ database, runtime, tokenSeed, outbound: config.outbound, uploads, archiveLimits, log: log.builds }),
      webhooks: {
        targets: new TargetAddresses(config.webhooks.allowPrivate, config.webhooks.deny),
        lookupHost: parts.lookupHost ?? lookupHost,
      },
      feed: new ChangeFeed(),
      fileServices: new FileServices({ runtime, tokenSeed }),
      transfers: new TransferSlots(),
      health: new HealthRuns({ database, serverId, environment: parts.host?.environment, log: log.http }),
      orphans: new OrphanDesk(parts.host?.openOrphans, log.http),
      jobs: new JobRunner(sandboxes),
      drain,
      ready,
      pool,
      placement,
      start: () => startLoops(context, { folder, refused }, shutdown),
      [Symbol.asyncDispose]: () => shutdown.run(),
    }
    const figures = new ServerFigures({ runtime, creates: () => metrics.timings.creates, log: log.database })
    shutdown.add('server figures', () => figures[Symbol.asyncDispose]())
    const heartbeat = await startHeartbeat(context, figures)
    shutdown.add('heartbeat', () => heartbeat[Symbol.asyncDispose]())
    shutdown.add('checks of the host', () => context.health[Symbol.asyncDispose]())
    return context
  } catch (err) {
    await shutdown.run()
    throw err
  }
}

async function openRuntime({ runtime }: ApiParts, needs: RuntimeNeeds, shutdown: Shutdown): Promise<SandboxRuntime> {
  if (typeof runtime !== 'function') return runtime
  const opened = await runtime(needs)
  shutdown.add('runtime', () => opened[Symbol.asyncDispose]())
  return opened
}
