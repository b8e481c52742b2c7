import { Sandbox } from 'e2b'
import { randomId } from '@sandyard/kit/ids/ids'
import { startTestServer } from '../../tools/gate/test-server.ts'
import { ensureBaseImage } from '../../packages/runtime-docker/src/images/base-image.ts'
import { readEngineFacts } from '../../packages/runtime-docker/src/engine/engine-facts.ts'
import { LABEL } from '../../packages/runtime-docker/src/labels.ts'
import type { DockerRuntime } from '../../packages/runtime-docker/src/docker-runtime.ts'
import { stepRights } from '../../packages/runtime-docker/src/seccomp/step-rights.ts'
import { EngineBench } from '../../packages/runtime-docker/test/support/engine-bench.ts'
import { OUTSIDE } from '../../packages/runtime-docker/test/support/outside-world.ts'
import { ensureProbeImage, programOf } from './image.ts'
import { spotsOf, type Evidence } from './judge.ts'
import {
  callApi,
  commandOf,
  markOf,
  readOutcomes,
  runInDockerfile,
  runInSandbox,
  runInTemplate,
  startInSandbox,
  stepsOf,
  type Commands,
  type Connection,
  type Outcomes,
} from './places.ts'
import { ACCOUNTS, type Place, type Probe } from './probe.ts'
import { SERVICE_PORT, Targets, type Sibling, type Variables } from './world/targets.ts'

const LIFETIME_MS = 600_000
/** Low, so that the drills stay small. */
const PROCESSES = 300
const CONNECTIONS = 500

/** The machines of a run: an engine, a server of its own, a sandbox that is the neighbour, and everything around them. */
export class Course implements AsyncDisposable {
  readonly connection: Connection
  readonly bench: EngineBench
  /** A runtime with a stand-in daemon. */
  readonly runtime: DockerRuntime
  readonly targets: Targets
  readonly image: string
  /** A sandbox of another user. */
  readonly neighbour: Sandbox
  /** How many connections a sandbox of the server may have. */
  readonly connections = CONNECTIONS
  readonly #stack: AsyncDisposableStack
  readonly #sibling: Sibling
  #attacker: Promise<Sandbox> | undefined

  private constructor(
    stack: AsyncDisposableStack,
    parts: Pick<Course, 'connection' | 'bench' | 'runtime' | 'targets' | 'image' | 'neighbour'>,
    sibling: Sibling,
  ) {
    this.#stack = stack
    this.#sibling = sibling
    this.connection = parts.connection
    this.bench = parts.bench
    this.runtime = parts.runtime
    this.targets = parts.targets
    this.image = parts.image
    this.neighbour = parts.neighbour
  }

  static async open(probes: readonly Probe[]): Promise<Course> {
    await using undo = new AsyncDisposableStack()
    const bench = undo.use(await EngineBench.open())
    const base = await ensureBaseImage(bench.docker, { progress: { step: () => undefined, detail: () => undefined } })
    const image = await ensureProbeImage(bench, base, probes)
    // The volume of the stand-in daemon, for the machines outside.
    const runtime = await bench.runtime()
    // The log is then in `.tools/reports/server.out`.
    const settings = { SANDYARD_LOG: 'stdout', SANDYARD_PIDS_LIMIT: String(PROCESSES), SANDYARD_EGRESS_CONNECTIONS: String(CONNECTIONS) }
    const opening = Targets.open(bench, image).then((opened) => undo.use(opened))
    const starting = startTestServer({ SANDYARD_RESOLVERS: OUTSIDE.resolver, ...settings }).then((started) => undo.use(started))
    // Both, also after a failure of one, so that the other is closed.
    await Promise.allSettled([opening, starting])
    const [targets, server] = await Promise.all([opening, starting])
    const { E2B_API_URL = '', E2B_SANDBOX_URL = '', E2B_API_KEY = '', E2B_ACCESS_TOKEN = '' } = server.environment
    const connection = { apiUrl: E2B_API_URL, sandboxUrl: E2B_SANDBOX_URL, apiKey: E2B_API_KEY, accessToken: E2B_ACCESS_TOKEN }
    const neighbour = await Sandbox.create('base', { ...connection, timeoutMs: LIFETIME_MS })
    for (const name of ['serve', 'hold'] as const) await neighbour.files.write(`/tmp/${name}`, await programOf(name))
    await startInSandbox(neighbour, 'user', `perl /tmp/serve tcp:0.0.0.0:${SERVICE_PORT} udp:0.0.0.0:${SERVICE_PORT}`)
    const { stdout } = await neighbour.commands.run('hostname -i; cat /sys/class/net/eth0/address')
    const [address = '', mac = ''] = stdout.trim().split(/\s+/)
    const [container] = await bench.docker.listContainers({ filters: { label: [`${LABEL.sandboxId}=${neighbour.sandboxId}`] } })
    await targets.watch(container?.Id ?? '')
    return new Course(undo.move(), { connection, bench, runtime, targets, image, neighbour }, { address, mac })
  }

  /** Runs the probes everywhere, at once. Where a place cannot be had, its probes have the reason as their outcome. */
  async run(probes: readonly Probe[]): Promise<Evidence> {
    const name = `escape-${randomId(10)}`
    const step = (place: Place): Commands => this.#commands(place, probes, {})
    const secret = randomId(24)
    const [control, dockerfile, ...others] = await Promise.all([
      this.targets.allowed((variables) => commandOf('control', probes, { ...variables, ...secretsOf([secret], secret) }), secret),
      unlessAbsent('Dockerfile step', probes, async () => {
        const lines: string[] = []
        await runInDockerfile(this.connection, this.image, { steps: stepsOf(step('Dockerfile step')), lines })
        return readOutcomes(lines)
      }),
      ...this.#fromTemplate(name, probes, step('template step')),
    ])
    const outcomes = new Map([dockerfile, ...others].flatMap((found) => [...found]))
    const { seccomp, version } = await readEngineFacts(this.bench.docker, undefined)
    return {
      outcomes,
      control: readOutcomes(control.split('\n')),
      arrived: await this.targets.arrived(),
      hasStepProfile: stepRights(seccomp, version).length === 0,
    }
  }

  /** The variables of probes in the server's sandboxes. */
  variables(): Variables {
    return this.targets.variables(this.#sibling)
  }

  /** The sandbox of the probes, for drills that come after them. */
  async attacker(): Promise<Sandbox> {
    if (this.#attacker === undefined) throw new Error('there is no sandbox of the template')
    return this.#attacker
  }

  /** What the control plane says of a sandbox. */
  async describe({ sandboxId }: Sandbox): Promise<{ readonly diskSizeMB: number }> {
    const { diskSizeMB } = await callApi(this.connection, `GET /sandboxes/${sandboxId}`)
    return { diskSizeMB: Number(diskSizeMB) }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  /** Builds a template with probes in its steps, then runs probes in sandboxes of it. */
  #fromTemplate(name: string, probes: readonly Probe[], commands: Commands): Promise<Outcomes>[] {
    const built = unlessAbsent('template step', probes, () => runInTemplate(this.connection, { image: this.image, name, commands }))
    const then = (place: Place, options: { allowInternetAccess?: boolean }): Promise<Outcomes> =>
      unlessAbsent(place, probes, async () => {
        await built
        const created = Sandbox.create(name, { ...this.connection, timeoutMs: LIFETIME_MS, ...options })
        if (place === 'sandbox') this.#attacker = created
        const sandbox = await created
        const own = this.#commands(place, probes, secretsOf(this.#secrets(), tokenOf(sandbox)))
        return new Map(
          (await Promise.all(own.map(([account, command]) => runInSandbox(sandbox, account, command)))).flatMap((found) => [...found]),
        )
      })
    return [built, then('sandbox', {}), then('sandbox without internet', { allowInternetAccess: false })]
  }

  /** One command for each account that has probes in a place. */
  #commands(place: Place, probes: readonly Probe[], own: Variables): Commands {
    const variables = { ...this.variables(), ...secretsOf(this.#secrets(), ''), ...own }
    return ACCOUNTS.flatMap((account) => {
      const chosen = probes.filter((probe) => spotsOf(probe).some((spot) => spot.place === place && spot.account === account))
      return chosen.length === 0 ? [] : [[account, commandOf(markOf({ place, account }), chosen, variables)] as const]
    })
  }

  /** What must not be in a sandbox or a build. */
  #secrets(): readonly string[] {
    return [this.connection.apiKey, this.connection.accessToken, tokenOf(this.neighbour)]
  }
}

/** The secrets for `search` of `perl/Escape.pm`, in a form that a search for them does not find. */
function secretsOf(foreign: readonly string[], own: string): Variables {
  const backwards = (text: string): string => Buffer.from(text).toString('hex').split('').toReversed().join('')
  return { FOREIGN_SECRETS: foreign.map(backwards).join(','), OWN_TOKEN: backwards(own) }
}

function tokenOf(sandbox: Sandbox): string {
  const { envdAccessToken = '' } = sandbox as unknown as { readonly envdAccessToken?: string }
  if (envdAccessToken === '') throw new Error('the sandbox has no token')
  return envdAccessToken
}

async function unlessAbsent(place: Place, probes: readonly Probe[], run: () => Promise<Outcomes>): Promise<Outcomes> {
  return run().catch((err: unknown) => {
    const reason = `broken: ${(err as Error).message.split('\n')[0]}`
    const spots = probes.flatMap((probe) =>
      spotsOf(probe)
        .filter((spot) => spot.place === place)
        .map((spot) => [`${markOf(spot)} ${probe.id}`, reason] as const),
    )
    return new Map(spots)
  })
}
