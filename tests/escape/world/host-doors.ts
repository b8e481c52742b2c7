import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { hasIpv6 } from './has-ipv6.ts'
import { markersIn } from './markers.ts'

/** Where an engine would listen for everyone who can reach the host. */
export const ENGINE_PORT = 2375
export const ENGINE_TLS_PORT = 2376

/** Servers on every address of the host: where an engine would listen, and one for datagrams. */
export class HostDoors implements AsyncDisposable {
  readonly #servers: readonly Server[]
  readonly #datagrams: Socket
  /** The markers of the datagrams that arrived. */
  readonly seen = new Set<string>()

  private constructor(servers: readonly Server[], datagrams: Socket) {
    this.#servers = servers
    this.#datagrams = datagrams
    datagrams.on('message', (bytes) => {
      for (const marker of markersIn(bytes)) this.seen.add(marker)
    })
  }

  static async open(): Promise<HostDoors> {
    const servers = await Promise.all([ENGINE_PORT, ENGINE_TLS_PORT].map(listen))
    const datagrams = createSocket('udp4').bind(0)
    await once(datagrams, 'listening')
    return new HostDoors(servers, datagrams)
  }

  get udpPort(): number {
    return this.#datagrams.address().port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#datagrams.close()
    await Promise.all(this.#servers.filter(({ listening }) => listening).map((server) => new Promise((done) => server.close(done))))
  }
}

/** A port that is in use is a door already. */
async function listen(port: number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end())
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  server.once('error', (err: NodeJS.ErrnoException) => (err.code === 'EADDRINUSE' ? resolve(server) : reject(err)))
  server.listen(port, hasIpv6() ? '::' : '0.0.0.0', () => resolve(server))
  return promise
}
