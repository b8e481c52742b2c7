import type { Database } from '@sandyard/db/database'
import { listen } from '@sandyard/db/listen'
import { CHANNELS } from '@sandyard/db/notify'
import { newServerId } from '@sandyard/db/presence'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { AuthCache } from './auth/auth-cache.ts'
import { KeyUsage } from './auth/key-usage.ts'
import type { SchemeParts } from './auth/schemes.ts'
import type { ApiConfig } from './config.ts'
import { createBuildRunner } from './builds/engine/run-build.ts'
import { startBuildLoops } from './builds/build-loops.ts'
import type { BuildRunner } from './builds/build-runner.ts'
import { createApiLoggers, type ApiLoggers } from './loggers.ts'
import { createApiMetrics, type ApiMetrics } from './metrics/api-metrics.ts'
import type { CreateParts } from './sandboxes/create-sandbox.ts'
import { startSandboxLoops } from './sandboxes/sandbox-loops.ts'
import { StartsUnderWay } from './sandboxes/starts-under-way.ts'
import type { ViewParts } from './sandboxes/sandbox-view.ts'
import { UploadFolder } from './uploads/upload-folder.ts'
import { UploadStore } from './uploads/upload-store.ts'
import { ensureInstallation, type Installation } from './settings/installation.ts'

/** What the control plane stands on. */
export interface ApiParts {
  /** At this release's schema. Whoever opened it closes it. */
  readonly database: Database
  /** A runtime, or how to open one for this installation; one that is opened here is closed here. */
  readonly runtime: SandboxRuntime | ((installation: Installation) => Promise<SandboxRuntime>)
  readonly log: Logger
  /** How builds are made. Default: with the build engine. */
  readonly buildRunner?: BuildRunner
}

/** Everything that the control plane's entry and route files work with. */
export interface AppContext extends AsyncDisposable {
  readonly config: ApiConfig
  readonly log: ApiLoggers
  readonly metrics: ApiMetrics
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly installation: Installation
  readonly auth: SchemeParts
  readonly sandboxes: CreateParts
  readonly view: ViewParts
  readonly uploads: UploadStore
  readonly buildRunner: BuildRunner
  /** While true, `/health` sends traffic elsewhere. */
  isDraining: boolean
  /** Starts the loops that repair and expire. They stop, in order, when the context is disposed. */
  start(): Promise<void>
}

/** A create must be answered within the 60 s that clients wait (clients.md 3.8). */
const START_TIMEOUT_MS = 50_000

const MAX_ARCHIVE_ENTRIES = 1_000_000

/**
 * Builds the control plane. Disposing it stops the loops and closes what was opened here.
 *
 * @throws whatever keeps the database or the runtime from answering
 */
export async function createContext(config: ApiConfig, parts: ApiParts): Promise<AppContext> {
  const log = createApiLoggers(parts.log)
  const shutdown = new Shutdown(log.http)
  const { database } = parts
  try {
    const installation = await ensureInstallation(database.db)
    const runtime = await openRuntime(parts, installation, shutdown)
    const usage = new KeyUsage(database, log.auth)
    shutdown.add('key usage', () => usage[Symbol.asyncDispose]())
    const { tokenSeed } = installation
    const metrics = createApiMetrics(database)
    const { uploads, folder, archiveLimits } = openUploads(config, database, metrics)
    const { limits, adminToken, domain } = config
    const context: AppContext = {
      config,
      log,
      metrics,
      database,
      runtime,
      installation,
      auth: { database, cache: new AuthCache(), adminToken, onApiKeyUsed: (id) => usage.used(id) },
      sandboxes: {
        database,
        runtime,
        serverId: newServerId(),
        tokenSeed,
        limits,
        starts: new StartsUnderWay(),
        log: log.sandboxes,
        startTimeoutMs: START_TIMEOUT_MS,
      },
      view: { tokenSeed, domain },
      uploads,
      buildRunner: parts.buildRunner ?? createBuildRunner({ database, runtime, tokenSeed, uploads, archiveLimits, log: log.builds }),
      isDraining: false,
      start: () => startLoops(context, folder, shutdown),
      [Symbol.asyncDispose]: () => shutdown.run(),
    }
    return context
  } catch (err) {
    await shutdown.run()
    throw err
  }
}

async function openRuntime({ runtime }: ApiParts, installation: Installation, shutdown: Shutdown): Promise<SandboxRuntime> {
  if (typeof runtime !== 'function') return runtime
  const opened = await runtime(installation)
  shutdown.add('runtime', () => opened[Symbol.asyncDispose]())
  return opened
}

function openUploads({ builds }: ApiConfig, database: Database, metrics: ApiMetrics) {
  const folder = new UploadFolder(builds.uploadsDir)
  const archiveLimits = { maxBytes: builds.uploadUnpackedLimitBytes, maxEntries: MAX_ARCHIVE_ENTRIES }
  const onStored = (bytes: number): void => metrics.uploadedBytes.inc(bytes)
  return { folder, archiveLimits, uploads: new UploadStore({ database, folder, limits: archiveLimits, onStored }) }
}

async function startLoops(context: AppContext, folder: UploadFolder, shutdown: Shutdown): Promise<void> {
  const { database, runtime, auth, log } = context
  const builds = startBuildLoops({
    database,
    runtime,
    tokenSeed: context.installation.tokenSeed,
    runner: context.buildRunner,
    serverId: context.sandboxes.serverId,
    config: context.config.builds,
    folder,
    log: log.builds,
    onAttemptEnd: (outcome) => context.metrics.buildAttempts.inc({ outcome }),
  })

  const listener = listen({
    url: database.url,
    applicationName: 'sandyard-api-listen',
    channels: [CHANNELS.authChanged, CHANNELS.buildChanged],
    serverId: context.sandboxes.serverId,
    log: log.database,
    onNotification: (channel, payload) => (channel === CHANNELS.buildChanged ? builds.onBuildChanged(payload) : auth.cache.clear()),
    onRefresh: () => {
      auth.cache.clear()
      builds.onRefresh()
    },
  })
  shutdown.add('listener', () => listener[Symbol.asyncDispose]())

  startSandboxLoops({ database, runtime, log: log.sandboxes, starts: context.sandboxes.starts }, shutdown)
  shutdown.add('builds', () => builds.stop())
  await listener.ready
}
