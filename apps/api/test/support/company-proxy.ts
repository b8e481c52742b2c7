import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'
import { leafFor } from '@sandyard/egress-ca/leaf-for'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Secret } from '@sandyard/kit/config/secret'

/** What a host says to a path; undefined is a 404. */
type Site = (path: string) => string | Buffer | undefined

export interface CompanyProxyOptions {
  /** `user:password` that clients must have. */
  readonly credentials?: string
  /** The world outside, by host. There is nothing else. */
  readonly sites: Readonly<Record<string, Site>>
}

const REFUSED = [
  'HTTP/1.1 407 Proxy Authentication Required',
  'Proxy-Authenticate: Basic realm="company"',
  'Connection: close',
  'Content-Length: 0',
  '\r\n',
].join('\r\n')

/**
 * The HTTP proxy of a company, with an authority of its own: it ends the TLS of every connection and answers itself for the servers of a world
 * that needs no network.
 */
export class CompanyProxy implements AsyncDisposable {
  /** Its authority in PEM. */
  readonly authority: string
  /** `GET http://host/path` and `CONNECT host:port` that were accepted, then `GET https://host/path`, in their order. */
  readonly requests: string[] = []
  /** How many requests had wrong credentials. */
  refused = 0
  readonly #options: CompanyProxyOptions
  readonly #server: Server
  readonly #tls: TlsServer
  readonly #tunnels = new Set<Duplex>()

  private constructor(options: CompanyProxyOptions) {
    this.#options = options
    const authority = sandboxAuthority(new Secret('company'), 'company')
    this.authority = authority.certificatePem
    this.#tls = createTlsServer(
      {
        SNICallback: (name, done) => {
          const { certificatePem: cert, privateKeyPem } = leafFor(authority, name)
          done(null, createSecureContext({ cert, key: privateKeyPem.reveal() }))
        },
      },
      (call, answer) => this.#answer(`https://${call.headers.host ?? ''}${call.url ?? ''}`, call, answer),
    )
    this.#tls.on('tlsClientError', () => undefined)
    this.#server = createServer((call, answer) => {
      if (this.#admits(call)) return this.#answer(call.url ?? '', call, answer)
      answer.writeHead(407, { 'proxy-authenticate': 'Basic realm="company"' }).end()
    })
    this.#server.on('connect', (call: IncomingMessage, socket: Duplex) => this.#connect(call, socket))
  }

  /** Listens on every address of this host. */
  static async start(options: CompanyProxyOptions): Promise<CompanyProxy> {
    const proxy = new CompanyProxy(options)
    proxy.#server.listen(0, '0.0.0.0')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    for (const tunnel of this.#tunnels) tunnel.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #admits({ headers }: IncomingMessage): boolean {
    const { credentials } = this.#options
    const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
    if (expected === undefined || headers['proxy-authorization'] === expected) return true
    this.refused += 1
    return false
  }

  #connect(call: IncomingMessage, socket: Duplex): void {
    this.#tunnels.add(socket)
    socket.on('error', () => undefined).on('close', () => this.#tunnels.delete(socket))
    if (!this.#admits(call)) return void socket.end(REFUSED)
    this.requests.push(`CONNECT ${call.url ?? ''}`)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    this.#tls.emit('connection', socket)
  }

  #answer(url: string, call: IncomingMessage, answer: ServerResponse): void {
    this.requests.push(`${call.method ?? ''} ${url}`)
    const { host, pathname } = new URL(url)
    const found = this.#options.sites[host]?.(pathname)
    if (found === undefined) return void answer.writeHead(404).end()
    // pip refuses an index without a type.
    answer.writeHead(200, { 'content-type': String(found).startsWith('<') ? 'text/html' : 'application/octet-stream' }).end(found)
  }
}
