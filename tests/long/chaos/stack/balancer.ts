import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * Passes connections on to several servers in turn, as a load balancer does: a connection that a server does not accept goes to the next
 * one. A connection that was accepted ends when its server dies.
 */
export class Balancer implements AsyncDisposable {
  readonly #ports: readonly number[]
  readonly #server = createServer((client) => void this.#pass(client))
  readonly #sockets = new Set<Socket>()
  #turn = 0

  constructor(ports: readonly number[]) {
    this.#ports = ports
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #pass(client: Socket): Promise<void> {
    this.#track(client)
    const first = this.#turn++
    for (let tried = 0; tried < this.#ports.length; tried += 1) {
      const server = await open(this.#ports[(first + tried) % this.#ports.length] ?? 0)
      if (server === undefined) continue
      this.#track(server)
      client.once('close', () => server.destroy())
      server.once('close', () => client.destroy())
      client.pipe(server).pipe(client)
      if (client.destroyed) server.destroy()
      return
    }
    client.destroy()
  }

  #track(socket: Socket): void {
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function open(port: number): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: false })
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}
