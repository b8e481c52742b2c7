import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectEngine } from '../../../../packages/runtime-docker/src/engine/connect-engine.ts'
import { removeInstallations } from '../../../../packages/runtime-docker/src/remove-installation.ts'
import { LABEL } from '../../../../packages/runtime-docker/src/labels.ts'
import { pollUntil } from '../../../../packages/kit/src/async/poll-until.ts'
import { findFreePort } from '../../../../packages/kit/src/net/free-port.ts'
import type { Random } from '../../../../packages/test-kit/src/seeded-random.ts'
import { Balancer } from './balancer.ts'
import { GuardPart } from './guard-part.ts'
import type { Part } from './part.ts'
import { PostgresPart } from './postgres-part.ts'
import { ProgramPart, type ProgramOptions } from './program-part.ts'

export interface Connection {
  readonly apiKey: string
  readonly apiUrl: string
  readonly sandboxUrl: string
}

export interface StackOptions {
  /** The address of the engine; undefined for the default one. */
  readonly engine: string | undefined
  /** The engine itself, if it is killed too. */
  readonly enginePart?: Part | undefined
  readonly random: Random
  /** Leaves the folder with the logs. */
  readonly keep: boolean
}

const SERVERS = ['one', 'two'] as const
const MAIN = (app: string): string => join(import.meta.dirname, '../../../../apps', app, 'src/main.ts')

/**
 * Two servers, two proxies and an egress gateway as programs of their own, on one engine and a Postgres of their own, with a load balancer in
 * front of each pair. Disposing ends all processes and removes what they have on the engine.
 */
export class ChaosStack implements AsyncDisposable {
  readonly folder: string
  readonly engine: string | undefined
  readonly postgres: PostgresPart
  readonly installation: string
  readonly connection: Connection
  readonly apis: readonly ProgramPart[]
  readonly programs: readonly ProgramPart[]
  /** All that a run kills. */
  readonly parts: readonly Part[]
  readonly #stack: AsyncDisposableStack

  private constructor(
    stack: AsyncDisposableStack,
    parts: Pick<ChaosStack, 'folder' | 'engine' | 'postgres' | 'installation' | 'connection' | 'apis' | 'programs' | 'parts'>,
  ) {
    this.#stack = stack
    this.folder = parts.folder
    this.engine = parts.engine
    this.postgres = parts.postgres
    this.installation = parts.installation
    this.connection = parts.connection
    this.apis = parts.apis
    this.programs = parts.programs
    this.parts = parts.parts
  }

  static async start({ engine, enginePart, random, keep }: StackOptions): Promise<ChaosStack> {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'sandyard-chaos-'))
    if (!keep) stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const postgres = stack.use(new PostgresPart(join(folder, 'database'), await findFreePort()))
    await postgres.restart()

    const apiPorts = [await findFreePort(), await findFreePort()]
    const proxyPorts = [await findFreePort(), await findFreePort()]
    const apiBalancer = stack.use(new Balancer(apiPorts))
    const proxyBalancer = stack.use(new Balancer(proxyPorts))
    const [apiUrl, sandboxUrl] = [await apiBalancer.listen(), await proxyBalancer.listen()]
    const shared = {
      DATABASE_URL: postgres.url,
      ...(engine !== undefined && { DOCKER_HOST: engine }),
      SANDYARD_EGRESS_TCP_PORT: String(await findFreePort()),
      SANDYARD_EGRESS_DNS_PORT: String(await findFreePort()),
    }
    const program = (options: Omit<ProgramOptions, 'logFile'>): ProgramPart =>
      new ProgramPart({ ...options, environment: { ...shared, ...options.environment }, logFile: join(folder, `${options.name}.log`) })
    mkdirSync(join(folder, 'uploads'))
    const apis = SERVERS.map((name, index) =>
      program({
        kind: 'api',
        name: `api-${name}`,
        main: MAIN('api'),
        environment: {
          SANDYARD_API_PORT: String(apiPorts[index]),
          SANDYARD_METRICS_PORT: '0',
          SANDYARD_DATA_DIR: join(folder, `api-${name}`),
          SANDYARD_UPLOADS_DIR: join(folder, 'uploads'),
          SANDYARD_BASE_MEMORY: '256MiB',
          SANDYARD_BASE_CPU_COUNT: '1',
          SANDYARD_MAX_SANDBOXES: '500',
        },
        isReady: () => answersOk(`http://127.0.0.1:${apiPorts[index]}/ready`),
      }),
    )
    const proxies = SERVERS.map((name, index) =>
      program({
        kind: 'proxy',
        name: `proxy-${name}`,
        main: MAIN('proxy'),
        environment: { SANDYARD_PROXY_PORT: String(proxyPorts[index]), SANDYARD_API_INTERNAL_URL: apiUrl },
        isReady: () => answers(`http://127.0.0.1:${proxyPorts[index]}/`),
      }),
    )
    const healthPort = await findFreePort()
    const egress = program({
      kind: 'egress',
      name: 'egress',
      main: MAIN('egress'),
      environment: { SANDYARD_EGRESS_HEALTH_PORT: String(healthPort) },
      isReady: () => answers(`http://127.0.0.1:${healthPort}/health`),
    })
    // The first start migrates the database and makes the credentials.
    const programs = [...apis, ...proxies, egress]
    for (const part of programs) {
      stack.use(part)
      await part.restart()
    }
    const read = (file: string): string => readFileSync(join(folder, 'api-one', file), 'utf8')
    const installation = read('installation').trim()
    // Deferred last, so it runs first: the programs must have ended before their things are removed.
    stack.defer(async () => {
      for (const part of programs) await part.kill()
      await removeInstallations(await connectEngine(engine), [installation])
    })
    const apiKey = /^E2B_API_KEY=(\S+)$/m.exec(read('credentials'))?.[1] ?? ''
    const parts = [...programs, new GuardPart(installation, engine, random), postgres, ...(enginePart === undefined ? [] : [enginePart])]
    return new ChaosStack(stack.move(), {
      folder,
      engine,
      postgres,
      installation,
      connection: { apiKey, apiUrl, sandboxUrl },
      apis,
      programs,
      parts,
    })
  }

  /** Restarts the servers without a warm pool, so that they remove what waits in it. */
  async turnOffPool(): Promise<void> {
    for (const api of this.apis) {
      await api.stop()
      api.set('SANDYARD_POOL_PER_TEMPLATE', '0')
      await api.restart()
    }
  }

  /** Stops all programs in order, and returns what is then left of them on the engine. */
  async stop(): Promise<string[]> {
    const found: string[] = []
    for (const part of this.programs.toReversed()) {
      const code = await part.stop()
      if (code !== 0) found.push(`${part.name} ended with ${code} after SIGTERM`)
    }
    const docker = await connectEngine(this.engine)
    const filters = JSON.stringify({ label: [`${LABEL.installation}=${this.installation}`] })
    // The engine removes the container of a guard by itself, just after its end.
    const containers = await pollUntil({ what: 'the end of all containers', timeoutMs: 20_000, everyMs: 100 }, async () => {
      const all = await docker.listContainers({ all: true, filters })
      return all.length === 0 ? all : undefined
    }).catch(() => docker.listContainers({ all: true, filters }))
    const networks = await docker.listNetworks({ filters })
    found.push(...containers.map(({ Names, State }) => `the container ${Names[0]} (${State}) after the end of all servers`))
    found.push(...networks.map(({ Name }) => `the network ${Name} after the end of all servers`))
    return found
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

async function answersOk(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Any answer at all. */
async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  )
}
