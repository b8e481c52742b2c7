import type { Socket } from 'node:net'
import type { RequestLine } from '@sandyard/kit/net/request-line'
import type { Connection } from '../connections/connection.ts'
import type { OriginAgent } from './origin-agent.ts'

/** A connection of a sandbox whose HTTP requests the gateway reads. */
export interface WebConnection extends Connection {
  readonly scheme: 'http' | 'https'
  /** The server name of its TLS handshake; requests to other names are refused. */
  readonly tlsName: string | undefined
  readonly line: RequestLine
  readonly agent: OriginAgent
  /** The server of the request in flight. */
  current: { readonly name: string | undefined } | undefined
}

/** The web connections by the socket that Node's HTTP server reads: that of the sandbox, or its decrypted side. */
export class WebConnections {
  readonly #bySocket = new WeakMap<Socket, WebConnection>()

  add(socket: Socket, connection: WebConnection): void {
    this.#bySocket.set(socket, connection)
  }

  find(socket: Socket): WebConnection | undefined {
    return this.#bySocket.get(socket)
  }
}
