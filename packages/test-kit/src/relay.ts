import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A way to the database whose connections can be made to hang, as after the loss of a network path. */
export class Relay implements AsyncDisposable {
  readonly #server: Server
  readonly #pairs: (readonly [Socket, Socket])[] = []

  constructor(target: URL) {
    this.#server = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname)
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
      client.pipe(upstream).pipe(client)
      this.#pairs.push([client, upstream])
    })
  }

  get count(): number {
    return this.#pairs.length
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Open connections stay open and carry nothing any more. Later connections work. */
  hang(): void {
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream)
      upstream.unpipe(client)
      client.pause()
      upstream.pause()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
