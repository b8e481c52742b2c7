import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Sandbox } from 'e2b'
import { send, type Call } from '../http-call.ts'
import { runContainer, type Programs, type RunningContainer } from './containers.ts'

const START_DEADLINE_MS = 20_000
const INIT = Buffer.from(JSON.stringify({ defaultUser: 'user', defaultWorkdir: '/home/user' }))

export type DaemonName = 'ours' | 'reference'

/** A daemon that answers, as the only one in its container. */
export interface Daemon extends AsyncDisposable {
  readonly container: RunningContainer
  readonly origin: string
  /** A sandbox of the published SDK, without a control plane. */
  readonly sandbox: Sandbox
  /** Sends directly to the daemon, on a reused connection. */
  send(call: Call): Promise<Buffer>
}

/** Everything that is compared in one round. */
export interface Daemons extends AsyncDisposable {
  readonly ours: Daemon
  readonly reference: Daemon | undefined
}

interface Manifest {
  readonly command: readonly string[]
  readonly port: number
}

export interface Commands {
  readonly port: number
  /** The command of our distribution's Node, for scripts in a container. */
  readonly node: readonly string[]
  readonly ours: readonly string[]
  readonly reference: readonly string[] | undefined
}

export async function readCommands({ dist, reference }: Programs): Promise<Commands> {
  const { command, port } = JSON.parse(await readFile(join(dist, 'dist.json'), 'utf8')) as Manifest
  const node = command.slice(0, command.findIndex((word) => word.endsWith('/bin/node')) + 1)
  return { port, node, ours: command, reference: reference === undefined ? undefined : ['/envd', '-isnotfc'] }
}

/** Starts both daemons, each in a container with the same image and limits. */
export async function startDaemons(programs: Programs): Promise<Daemons> {
  await using started = new AsyncDisposableStack()
  const { reference: binary } = await readCommands(programs)
  const ours = started.use(await startDaemon(programs, 'ours'))
  const reference = binary === undefined ? undefined : started.use(await startDaemon(programs, 'reference'))
  const all = started.move()
  return { ours, reference, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Starts a daemon and calls its `/init`, as clients expect it. */
export async function startDaemon(programs: Programs, name: DaemonName): Promise<Daemon> {
  await using started = new AsyncDisposableStack()
  const commands = await readCommands(programs)
  const container = started.use(await runContainer(programs, commands[name] ?? []))
  const agent = started.adopt(new Agent({ keepAlive: true }), (agent) => agent.destroy())
  const origin = `http://${container.address}:${commands.port}`
  await untilHealthy(origin, agent)
  await send(origin, agent, { method: 'POST', path: '/init', headers: { 'content-type': 'application/json' }, body: INIT, status: 204 })
  const sandbox = await Sandbox.create({ debug: true, sandboxUrl: origin })
  const all = started.move()
  return {
    container,
    origin,
    sandbox,
    send: (call) => send(origin, agent, call),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Waits for the 204 of `/health`. */
export async function untilHealthy(origin: string, agent: Agent): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS
  while (true) {
    const failure = await send(origin, agent, { method: 'GET', path: '/health', status: 204 }).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure === undefined) return
    if (performance.now() > deadline) throw new Error(`${origin} does not answer /health`, { cause: failure })
    await delay(20)
  }
}
