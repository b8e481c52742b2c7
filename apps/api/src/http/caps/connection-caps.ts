import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ClientAddresses } from '@sandyard/kit/net/client-addresses'
import { Quota, type Refusal } from '@sandyard/kit/limits/quota'
import type { CountRefused } from './request-cap.ts'

export interface ConnectionLimits {
  readonly maxConnections: number
  readonly maxClientConnections: number
}

/** Connections over a cap that stay open until their first request has the refusal. */
const REFUSED = { all: 256, one: 128 }

/** Counts the connections of a server. One over a cap is refused with its first request, or closed at once when many are. */
export class ConnectionCaps {
  readonly #addresses: ClientAddresses
  readonly #open: Quota
  readonly #refused = new Quota(REFUSED)
  readonly #refusals = new WeakMap<Socket, Refusal>()
  readonly #countRefused: CountRefused

  /** @param fronts addresses and networks of reverse proxies, whose connections count for the server only */
  constructor({ maxConnections, maxClientConnections }: ConnectionLimits, fronts: readonly string[], countRefused: CountRefused) {
    this.#addresses = new ClientAddresses(fronts)
    this.#open = new Quota({ all: maxConnections, one: maxClientConnections })
    this.#countRefused = countRefused
  }

  watch(server: Server): void {
    server.on('connection', (socket) => this.#accept(socket))
  }

  /** Why no request of the connection is served. */
  refusalOf(socket: Socket): Refusal | undefined {
    return this.#refusals.get(socket)
  }

  #accept(socket: Socket): void {
    const owner = this.#addresses.ofSocket(socket)
    const refusal = this.#open.take(owner)
    const counted = refusal === undefined ? this.#open : this.#refused
    if (refusal !== undefined) {
      this.#countRefused(refusal.of === 'all' ? 'connections' : 'client_connections')
      if (this.#refused.take(owner) !== undefined) return void socket.destroy()
      this.#refusals.set(socket, refusal)
    }
    socket.once('close', () => counted.release(owner))
  }
}
