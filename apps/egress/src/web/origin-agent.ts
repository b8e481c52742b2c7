import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How long a connection to a server may be idle before it is closed: servers close theirs after five seconds or more. */
const IDLE_MS = 4000

/** `connect` is of the request; the agent passes it on. */
interface ConnectOptions extends ClientRequestArgs {
  readonly connect?: () => Promise<Socket>
}

type Callback = (err: Error | null, socket: Duplex) => void

/** The connections to servers on behalf of one connection of a sandbox; no other one uses them. */
export class OriginAgent extends Agent implements Disposable {
  /** Raised by each change of the policy. A connection of an earlier one serves no further request. */
  #generation = 0
  readonly #generationOf = new WeakMap<Duplex, number>()

  constructor() {
    const options: AgentOptions = { keepAlive: true, maxFreeSockets: 4, timeout: IDLE_MS }
    super(options)
  }

  override createConnection(options: ConnectOptions, callback?: Callback): undefined {
    if (callback === undefined) return
    const generation = this.#generation
    void connectFor(options, (err, socket) => {
      if (err === null) this.#generationOf.set(socket, generation)
      callback(err, socket)
    })
  }

  override keepSocketAlive(socket: Duplex): boolean {
    // Node closes a connection for which this is false; the type does not say so.
    const isKept = super.keepSocketAlive(socket) as unknown as boolean
    return isKept && this.#generationOf.get(socket) === this.#generation
  }

  /** Closes the connections that no request uses. Those that one uses, or waits for, are closed after it. */
  forgetIdle(): void {
    this.#generation += 1
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  [Symbol.dispose](): void {
    this.destroy()
  }
}

/** Never rejects. */
async function connectFor({ connect }: ConnectOptions, callback: Callback): Promise<void> {
  let socket: Socket
  try {
    if (connect === undefined) throw new Error('the request has no way to its server')
    socket = await connect()
  } catch (err) {
    // The type has no form for a failure.
    callback(err as Error, undefined as unknown as Duplex)
    return
  }
  // The agent drops a connection that its server has ended only when it is closed.
  socket.allowHalfOpen = false
  callback(null, socket)
}
