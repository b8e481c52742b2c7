import { Agent } from 'node:http'
import { findSandboxContainer } from './engine.ts'
import { send, type Call } from './http-call.ts'
import { startReference } from './reference-daemon.ts'
import type { Settings } from './settings.ts'
import { startBareRelay } from './start-bare-relay.ts'
import { Sandbox } from 'e2b'

const DAEMON_PORT = 49_983

/** One way to a daemon. */
export interface Way {
  readonly name: string
  readonly sandbox: Sandbox
  /** An address and headers for requests of their own. */
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  /** Sends on a kept connection. */
  send(call: Call): Promise<Buffer>
}

/** The whole path, through the proxy, and what it is compared with. */
export interface Ways extends AsyncDisposable {
  readonly ours: Way
  /** The other daemon, directly; our own daemon directly when there is no other. */
  readonly other: Way
  /**
   * The other daemon through a process that copies bytes and does nothing else: no proxy in such a process takes less. Undefined when the other
   * daemon is ours.
   */
  readonly relayed: Way | undefined
}

export async function openWays({ sandboxUrl, reference }: Settings): Promise<Ways> {
  await using opened = new AsyncDisposableStack()
  const agent = opened.adopt(new Agent({ keepAlive: true }), (agent) => agent.destroy())
  const sandbox = opened.adopt(await Sandbox.create({ timeoutMs: 600_000 }), async (sandbox) => void (await sandbox.kill()))
  const way = (name: string, through: Sandbox, origin: string, headers: Readonly<Record<string, string>>): Way => ({
    name,
    sandbox: through,
    origin,
    headers,
    send: ({ headers: own, ...call }) => send(origin, agent, { ...call, headers: { ...own, ...headers } }),
  })
  const { envdAccessToken = '' } = sandbox as unknown as { envdAccessToken?: string }
  const token = { 'X-Access-Token': envdAccessToken }
  const routing = { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': String(DAEMON_PORT) }
  const ours = way('ours', sandbox, sandboxUrl, { ...token, ...routing })
  let other: Way
  let relayed: Way | undefined
  if (reference === undefined) {
    const { NetworkSettings } = await findSandboxContainer(sandbox.sandboxId)
    const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
    other = way('daemon, direct', sandbox, `http://${address}:${DAEMON_PORT}`, token)
  } else {
    const daemon = opened.use(await startReference(reference))
    other = way('reference', daemon.sandbox, daemon.origin, {})
    const relay = opened.use(await startBareRelay(daemon.origin))
    relayed = way('bare relay', daemon.sandbox, relay.origin, {})
  }
  const all = opened.move()
  return { ours, other, relayed, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
