import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createApp, type AppOptions } from '@sandyard/api/app'
import { parseApiConfig } from '@sandyard/api/config'
import { createContext, type ApiParts, type AppContext, type HostParts } from '@sandyard/api/context'
import { seedBaseTemplate } from '@sandyard/api/seed/seed-base-template'
import { seedIdentity, type SeededCredentials } from '@sandyard/api/seed/seed-identity'
import { Database } from '@sandyard/db/database'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { silentLogger, type Logger } from '@sandyard/kit/logging/create-logger'
import { FakeEngine } from '@sandyard/runtime/fake/fake-engine'
import { FakeRuntime } from '@sandyard/runtime/fake/fake-runtime'
import type { FakeRuntimeOptions } from '@sandyard/runtime/fake/fake-runtime-options'
import type { RuntimeCapabilities, SandboxEndpoint } from '@sandyard/runtime/types'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import type { BuildRunner } from '../../src/builds/build-runner.ts'
import type { LookupHost } from '../../src/sandboxes/network/resolve-egress-proxy.ts'
import { reconcile } from '../../src/sandboxes/repair/reconciler.ts'
import { Repairs } from '../../src/sandboxes/repair/repairs.ts'
import type { ApiInstance } from '../../src/http/api-instance.ts'
import { startDaemonStub, type DaemonStub } from './daemon-stub.ts'
import { FusedDatabase, FusedRuntime, type Fuse } from './fuse.ts'

export interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary answers
  readonly body: any
}

interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Default: the seeded key. */
  readonly apiKey?: string | null
}

/** One server of the control plane on a database and an engine that may be shared by several. */
export interface Server extends AsyncDisposable {
  readonly ctx: AppContext
  readonly app: ApiInstance
  readonly runtime: FakeRuntime
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, options?: CallOptions): Promise<Answer>
}

/** Everything that survives a server: the database, the engine with its sandboxes, and the credentials. */
export interface World extends AsyncDisposable {
  readonly database: Database
  readonly engine: FakeEngine
  readonly daemon: DaemonStub
  readonly teamId: string
  readonly userId: string
  readonly credentials: SeededCredentials
  readonly templateId: string
  readonly buildId: string
  /** The uploads folder shared by the servers. */
  readonly uploadsDir: string
  /** Starts a server with its own runtime on this world; its loops run only on request. */
  startServer(options?: ServerOptions): Promise<Server>
}

export interface ServerOptions {
  readonly loops?: boolean
  readonly env?: Record<string, string>
  /** Default: a fake runtime on the engine of the world. */
  readonly runtime?: (options: FakeRuntimeOptions) => FakeRuntime
  /** Kills the server at a crash point. */
  readonly fuse?: Fuse
  /** The way to the database of the world, for a server with a connection pool of its own. */
  readonly databaseUrl?: string
  /** The way of its listener and its heartbeat. Default: that of its pool. */
  readonly directUrl?: string
  readonly app?: AppOptions
  /** Default: a runner that finishes every build at once. */
  readonly buildRunner?: BuildRunner
  /** Of the runtime. */
  readonly capabilities?: Partial<RuntimeCapabilities>
  readonly lookupHost?: LookupHost
  readonly readyMade?: NonNullable<ApiParts['readyMade']>
  /** Default: none. */
  readonly host?: HostParts
  /** Default: none. */
  readonly log?: Logger
}

const instantRunner: BuildRunner = async ({ buildId }) => ({
  image: `built:${buildId}`,
  defaultUser: 'user',
  defaultWorkdir: '/home/user',
  env: {},
})

export const ADMIN_TOKEN = 'admin-secret'

/** The name of the connections of a server with a URL of its own. */
export const DYING = 'dying'

const silent = silentLogger()

/** The given database is disposed with the world. */
export async function createWorld(given?: TestDatabase): Promise<World> {
  const home = given ?? (await createTestDatabase())
  const shutdown = new Shutdown(silent)
  shutdown.add('postgres', () => home[Symbol.asyncDispose]())
  const database = new Database({ url: home.url, directUrl: home.directUrl, applicationName: 'test', log: silent })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  const uploadsDir = await mkdtemp(join(tmpdir(), 'sandyard-test-uploads-'))
  shutdown.add('uploads', () => rm(uploadsDir, { recursive: true, force: true }))
  const daemon = await startDaemonStub()
  shutdown.add('daemon', () => daemon[Symbol.asyncDispose]())
  const engine = new FakeEngine()
  shutdown.add('volumes', () => engine.volumes[Symbol.asyncDispose]())
  const { teamId, userId, credentials } = await seedIdentity(database, { teamName: 'Acme', email: 'dev@acme.test' })
  if (credentials === undefined) throw new Error('a new database has credentials already')
  const base = await seedBaseTemplate(database, { teamId, userId, image: 'base:1', cpuCount: 2, memoryMib: 1024, diskMib: 4096 })
  const world: World = {
    database,
    engine,
    daemon,
    teamId,
    userId,
    credentials,
    ...base,
    uploadsDir,
    startServer: async (options) => {
      const server = await startServer(world, options)
      shutdown.add('server', () => server[Symbol.asyncDispose]())
      return server
    },
    [Symbol.asyncDispose]: () => shutdown.run(),
  }
  return world
}

async function startServer(world: World, options: ServerOptions = {}): Promise<Server> {
  const { engine, daemon } = world
  const { fuse, buildRunner = instantRunner, capabilities, lookupHost, readyMade, host, log = silent } = options
  const endpointOf = (): SandboxEndpoint => ({ host: '127.0.0.1', daemonPort: daemon.port })
  const runtimeOptions: FakeRuntimeOptions = { engine, endpointOf, ...(capabilities && { capabilities }) }
  const makeRuntime = options.runtime ?? ((given) => (fuse === undefined ? new FakeRuntime(given) : new FusedRuntime(given, fuse)))
  const runtime = makeRuntime(runtimeOptions)
  const database = openDatabase(world, options)
  const config = parseApiConfig({
    SANDYARD_ADMIN_TOKEN: ADMIN_TOKEN,
    SANDYARD_UPLOADS_DIR: world.uploadsDir,
    // The event loop is that of the test, on a machine that does more than this.
    SANDYARD_MAX_EVENT_LOOP_DELAY: '1h',
    // Tests count sandboxes; those of the pool turn it on.
    SANDYARD_POOL_MEMORY: '0',
    ...options.env,
  })
  const ctx = await createContext(config, {
    database,
    runtime,
    log,
    buildRunner,
    ...(lookupHost && { lookupHost }),
    ...(readyMade && { readyMade }),
    ...(host && { host }),
  })
  const app = await createApp(ctx, options.app)
  if (options.loops === true) await ctx.start()
  // A request over a socket knows nothing of what its client does, such as a transaction of the test.
  const apart = AsyncLocalStorage.snapshot()
  return {
    ctx,
    app,
    runtime,
    call: async (method, url, { body, headers, apiKey = world.credentials.apiKey } = {}) => {
      // It is sent when it is first awaited.
      const answer = await apart(
        async () =>
          await app.inject({
            method,
            url,
            headers: { ...(apiKey !== null && { 'x-api-key': apiKey }), ...headers },
            ...(body !== undefined && { payload: body as object }),
          }),
      )
      return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: parse(answer.body) }
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      await ctx[Symbol.asyncDispose]()
      await runtime[Symbol.asyncDispose]()
      if (database !== world.database) await database[Symbol.asyncDispose]()
    },
  }
}

function openDatabase({ database }: World, { databaseUrl: url, directUrl, fuse }: ServerOptions): Database {
  if (directUrl !== undefined) return new Database({ url: url ?? database.url, directUrl, applicationName: DYING, log: silent })
  if (url !== undefined) return new Database({ url, applicationName: DYING, log: silent })
  return fuse === undefined ? database : new FusedDatabase(database.url, fuse)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Runs one pass of the reconciler and waits for its repairs. */
export async function reconcileNow({ ctx }: Pick<Server, 'ctx'>, options: { secondLookMs?: number } = {}): Promise<void> {
  const repairs = new Repairs(ctx.log.sandboxes)
  await reconcile({ ...ctx.sandboxes, repairs, engineId: ctx.engineId, ...options })
  await repairs.drain()
}

/** Ends the lease of a running server for good, whatever its heartbeat does: other servers treat it as dead. */
export async function endLease({ database }: World, { ctx }: Server): Promise<void> {
  const { serverId } = ctx.sandboxes
  await sql`
    create function ${sql.id(`end_lease_${serverId}`)}() returns trigger language plpgsql
    as 'begin new.lease_until := clock_timestamp() - make_interval(secs => 1); return new; end'
  `.execute(database.db)
  await sql`
    create trigger ${sql.id(`end_lease_${serverId}`)} before insert or update on server
    for each row when (new.server_id = ${sql.lit(serverId)}) execute function ${sql.id(`end_lease_${serverId}`)}()
  `.execute(database.db)
  await database.db.updateTable('server').set({ is_draining: false }).where('server_id', '=', serverId).execute()
}

/** Looks less often the longer it takes: most looks are requests, which take the processor from what is waited for. */
export async function waitFor(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  await pollUntil({ what, timeoutMs: 20_000, everyMs: 10, mostMs: 65 }, async () => ((await test()) ? true : undefined))
}
