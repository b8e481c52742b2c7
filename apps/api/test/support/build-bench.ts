import { gzipSync } from 'node:zlib'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Database } from '@sandyard/db/database'
import { sandboxInstanceKey } from '@sandyard/db/sandbox-token'
import type { BuilderVersion } from '@sandyard/db/schema/build'
import { ARCHIVE_LIMITS } from '@sandyard/kit/archive/entry-rules'
import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { DIRECT, type Outbound } from '@sandyard/kit/outbound/outbound'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { DEFAULT_EGRESS } from '@sandyard/runtime/types'
import { DockerRuntime } from '@sandyard/runtime-docker/docker-runtime'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { ensureBaseImage } from '@sandyard/runtime-docker/images/base-image'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import type { DockerRuntimeOptions } from '@sandyard/runtime-docker/runtime-options'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { pack } from 'tar-stream'
import { findResolvers } from '../../../../packages/runtime-docker/test/support/engine-bench.ts'
import { ensureDaemonDist } from '../../../daemon/build/dist.ts'
import type { BuildPlan, BuildResult } from '../../src/builds/build-plan.ts'
import type { LogLine } from '../../src/builds/build-runner.ts'
import { createBuildRunner } from '../../src/builds/engine/run-build.ts'
import { newBuildSandboxId } from '../../src/builds/queue/build-attempt.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { daemonIdentity } from '../../src/daemon/daemon-identity.ts'
import { initDaemon } from '../../src/daemon/init-daemon.ts'
import { runShell } from '../../src/daemon/run-shell.ts'
import { readWantedEgress } from '../../src/sandboxes/network/read-wanted-egress.ts'
import { seedBaseTemplate } from '../../src/seed/seed-base-template.ts'
import { seedIdentity } from '../../src/seed/seed-identity.ts'
import { openBenchServer, type BenchServer } from './bench-server.ts'

/** `npm test` pulls it on every engine. */
const DEBIAN = 'debian:bookworm-slim'

// oxlint-disable-next-line node/no-process-env -- the person who runs the tests selects the engine
const ENGINE = process.env['DOCKER_HOST']

/** The image of the `base` template. It has the packages that a build from Debian's image installs first, which takes a quarter of a minute. */
export async function imageWithPackages(): Promise<string> {
  return ensureBaseImage(await connectEngine(ENGINE), { progress: { step: () => undefined, detail: () => undefined } })
}

export interface Outcome {
  /** Undefined when the build failed. */
  readonly result: BuildResult | undefined
  readonly error: unknown
  readonly log: readonly LogLine[]
  /** The whole log as text. */
  readonly text: string
  /** The number of sandboxes that the build started. */
  readonly starts: number
}

export interface BuildOptions {
  readonly version?: BuilderVersion
  readonly signal?: AbortSignal
  readonly memoryMib?: number
  /** Called for each line when it is written. */
  readonly onLine?: (line: LogLine) => void
}

/** Runs the build engine on a real Docker engine and a real database, without the queue. */
export class BuildBench implements AsyncDisposable {
  readonly database: Database
  readonly runtime: DockerRuntime
  readonly outbound: Outbound
  readonly baseImage: string
  readonly teamId: string
  readonly userId: string
  readonly apiKey: string
  readonly uploads = new Map<string, Buffer>()
  readonly #shutdown: Shutdown
  #starts = 0

  private constructor(
    shutdown: Shutdown,
    parts: Pick<BuildBench, 'database' | 'runtime' | 'outbound' | 'baseImage' | 'teamId' | 'userId' | 'apiKey'>,
  ) {
    this.#shutdown = shutdown
    this.outbound = parts.outbound
    this.baseImage = parts.baseImage
    this.database = parts.database
    this.runtime = parts.runtime
    this.teamId = parts.teamId
    this.userId = parts.userId
    this.apiKey = parts.apiKey
  }

  static async open(
    change: Pick<DockerRuntimeOptions, 'pidsLimit' | 'egressGateway' | 'outbound' | 'baseImage'> = {},
  ): Promise<BuildBench> {
    const log = silentLogger()
    const shutdown = new Shutdown(log)
    const home = await createTestDatabase()
    shutdown.add('postgres', () => home[Symbol.asyncDispose]())
    const database = new Database({ url: home.url, applicationName: 'test', log })
    shutdown.add('database', () => database[Symbol.asyncDispose]())
    const { teamId, userId, credentials } = await seedIdentity(database, { teamName: 'Acme', email: 'dev@acme.test' })
    const installation = `builds-${randomId(8)}`
    shutdown.add('traces', async () => removeInstallations(await connectEngine(ENGINE), [installation]))
    const runtime = await DockerRuntime.open({
      installation,
      daemonDist: await ensureDaemonDist(),
      dockerHost: ENGINE,
      log,
      progress: { step: () => undefined, detail: () => undefined },
      resolvers: await findResolvers(),
      wantedEgress: async (sandboxIds) => {
        const wanted = await readWantedEgress(database.db, sandboxIds)
        // Builds of this bench have no job, and some sandboxes have no row.
        return new Map(sandboxIds.map((id) => [id, wanted.get(id) ?? DEFAULT_EGRESS]))
      },
      ...change,
    })
    shutdown.add('runtime', () => runtime[Symbol.asyncDispose]())
    return new BuildBench(shutdown, {
      database,
      runtime,
      outbound: change.outbound ?? DIRECT,
      baseImage: change.baseImage ?? DEBIAN,
      teamId,
      userId,
      apiKey: credentials?.apiKey ?? '',
    })
  }

  /** Runs one build and checks that it leaves no sandbox behind. */
  async build(plan: Partial<BuildPlan>, { version = 'v2.1.0', signal, memoryMib = 512, onLine }: BuildOptions = {}): Promise<Outcome> {
    const log: LogLine[] = []
    const write = (line: LogLine): void => {
      log.push(line)
      onLine?.(line)
    }
    const before = this.#starts
    const job = {
      buildId: randomUUID(),
      templateId: randomId(20),
      teamId: this.teamId,
      plan: { source: { kind: 'image' as const, reference: DEBIAN }, steps: [], force: false, ...plan },
      builderVersion: version,
      credentials: undefined,
      resources: { cpuCount: 1, memoryMib, diskMib: 1024 },
      sandboxId: newBuildSandboxId(),
      log: { write, flush: async () => undefined },
    }
    const outcome = await this.#runner()(job, signal ?? new AbortController().signal).then(
      (result) => ({ result, error: undefined }),
      (error: unknown) => ({ result: undefined, error }),
    )
    const left = (await this.runtime.list()).filter(({ sandboxId }) => sandboxId === job.sandboxId)
    if (left.length > 0) throw new Error('the build did not remove its sandbox')
    return { ...outcome, log, text: log.map(({ message }) => message).join('\n'), starts: this.#starts - before }
  }

  /** Runs a command in a new sandbox of a ready build as its default user. Returns the output. */
  async inSandbox(result: BuildResult, command: string): Promise<string> {
    const sandboxId = `i${randomId(19)}`
    const ref = { sandboxId, incarnation: 1 }
    const signal = AbortSignal.timeout(60_000)
    const resources = { cpuCount: 1, memoryMib: 256, diskMib: 512 }
    const seed = new Secret(randomId(32))
    const instanceKey = sandboxInstanceKey(seed, ref)
    const identity = daemonIdentity({ sandboxId, templateId: 'test', buildId: 'test' }, seed)
    try {
      const endpoint = await this.runtime.create(
        { ...ref, image: result.image, resources, instanceKey, allowPrivilegeGain: true, mounts: [], egress: DEFAULT_EGRESS },
        signal,
      )
      const { env: envVars, defaultUser, defaultWorkdir } = result
      const daemon: Daemon = { endpoint, accessToken: undefined }
      await initDaemon({ endpoint, instanceKey }, { identity, envVars, defaultUser, defaultWorkdir }, signal)
      const lines: string[] = []
      await runShell(daemon, { command }, { onLine: (_, line) => lines.push(line), signal })
      return lines.join('\n')
    } finally {
      await this.runtime.remove(ref)
    }
  }

  /** Registers a template with the result. Returns its build id. */
  async publish(result: BuildResult | undefined): Promise<string> {
    if (result === undefined) throw new Error('the build has failed')
    const { db } = this.database
    const templateId = randomId(20)
    await db.insertInto('template').values({ template_id: templateId, team_id: this.teamId, source: 'template' }).execute()
    const { env, startCmd, readyCmd, startContext } = result
    const { build_id: buildId } = await db
      .insertInto('build')
      .values({
        template_id: templateId,
        status: 'uploaded',
        cpu_count: 1,
        memory_mib: 512,
        disk_mib: 1024,
        image: result.image,
        default_user: result.defaultUser,
        default_workdir: result.defaultWorkdir,
        envd_version: '0.6.13',
        env: JSON.stringify(env),
        start_cmd: startCmd ?? null,
        ready_cmd: readyCmd ?? null,
        start_context: startContext === undefined ? null : JSON.stringify(startContext),
      })
      .returning('build_id')
      .executeTakeFirstOrThrow()
    await db.insertInto('tag_assignment').values({ template_id: templateId, build_id: buildId, tag: 'default' }).execute()
    return buildId
  }

  async seedBase(): Promise<void> {
    const { teamId, userId } = this
    await seedBaseTemplate(this.database, { teamId, userId, image: this.baseImage, cpuCount: 1, memoryMib: 512, diskMib: 1024 })
  }

  /** A control plane without background loops on the same database and engine. */
  server(): Promise<BenchServer> {
    return openBenchServer(this)
  }

  /** The images of all cached layers. */
  async layers(): Promise<string[]> {
    return (await this.database.db.selectFrom('build_layer').select('image').execute()).map(({ image }) => image)
  }

  /** Uploads an archive in the format of clients. Returns its hash. */
  async upload(files: Readonly<Record<string, string>>): Promise<string> {
    const archive = pack()
    for (const [name, text] of Object.entries(files)) archive.entry({ name }, text)
    archive.finalize()
    const hash = randomUUID().replaceAll('-', '').repeat(2)
    this.uploads.set(hash, gzipSync(await buffer(archive)))
    return hash
  }

  #runner() {
    const { database, runtime, outbound, uploads } = this
    const counting = new Proxy(runtime, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (name === 'create') this.#starts += 1
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return createBuildRunner({
      database,
      runtime: counting,
      tokenSeed: new Secret('seed'),
      outbound,
      log: silentLogger(),
      archiveLimits: ARCHIVE_LIMITS,
      uploads: {
        open: async (_, hash) => {
          const found = uploads.get(hash)
          return found && Readable.from([found])
        },
      },
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#shutdown.run()
  }
}
