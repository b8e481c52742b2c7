import { findFreePort } from '@sandyard/kit/net/free-port'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { Registry } from 'prom-client'
import { Database } from '@sandyard/db/database'
import { TOKEN_SEED_SETTING } from '@sandyard/db/sandbox-token'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { leafFor } from '@sandyard/egress-ca/leaf-for'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Secret } from '@sandyard/kit/config/secret'
import { silentLogger, type Logger } from '@sandyard/kit/logging/create-logger'
import { createTestDatabase } from '@sandyard/test-kit/postgres'
import { SandboxRows } from '@sandyard/test-kit/sandbox-rows'
import { parseEgressConfig } from '../../src/config.ts'
import { createContext, type EgressContext } from '../../src/context.ts'
import { drain, listenOn, type Listening } from '../../src/gateway.ts'
import type { Endpoint } from '../../src/native/original-destination.ts'
import { startUpkeep } from '../../src/upkeep.ts'
import { startDns, type TestDns } from './dns-server.ts'

export const SEED = new Secret('5a'.repeat(32))
/** The authority of the servers on the stand-in internet. */
const WORLD_AUTHORITY = sandboxAuthority(new Secret('world'), 'world')
/** Addresses of the loopback network that stand for internal ones. */
export const INTERNAL = '127.66.0.1'

export interface TestEgress extends AsyncDisposable {
  readonly ctx: EgressContext
  readonly listening: Listening
  readonly rows: SandboxRows
  readonly database: Database
  readonly dns: TestDns
  /** Disposing again does nothing new. */
  readonly upkeep: AsyncDisposable
  readonly tlsPort: number
  readonly httpPort: number
  /** The running sandbox with an address gets this policy. */
  setPolicy(sandboxId: string, network: StoredEgress): Promise<void>
  addSandbox(sandboxId: string, address: string, network: StoredEgress, more?: Parameters<SandboxRows['setState']>[2]): Promise<void>
  /** Opens a connection as a sandbox would after the redirect. */
  dial(source: string, destination: Endpoint): Promise<Socket>
  metric(name: string, labels: Readonly<Record<string, string>>): Promise<number>
}

export interface EgressSetUp {
  /** The name of the company's proxy, whose port is the one of TLS. */
  readonly companyProxy?: string
  /** Names and their addresses, from the start on. */
  readonly zone?: Readonly<Record<string, readonly string[]>>
  readonly environment?: Readonly<Record<string, string>>
  readonly log?: Logger
}

/** The gateway on loopback addresses, with a real database and a real resolver; names are read on free ports in place of 443 and 80. */
export async function startEgress({
  companyProxy,
  environment = {},
  zone = {},
  log = silentLogger(),
}: EgressSetUp = {}): Promise<TestEgress> {
  const home = await createTestDatabase()
  const database = new Database({ url: home.url, applicationName: 'test', log: silentLogger() })
  await database.db.insertInto('server_setting').values({ name: TOKEN_SEED_SETTING, value: SEED.reveal() }).execute()
  const rows = await SandboxRows.create(database)
  const dns = await startDns()
  for (const [name, addresses] of Object.entries(zone)) dns.zone.set(name, addresses)
  const destinations = new Map<string, Endpoint>()
  const [tlsPort, httpPort] = [await findFreePort('0.0.0.0'), await findFreePort('0.0.0.0')]
  const registry = new Registry()
  const config = parseEgressConfig({
    SANDYARD_EGRESS_TCP_PORT: '0',
    SANDYARD_EGRESS_DNS_PORT: '0',
    SANDYARD_EGRESS_DRAIN: '1ms',
    ...(companyProxy !== undefined && { SANDYARD_HTTP_PROXY: `http://${companyProxy}:${tlsPort}` }),
    ...environment,
  })
  const ctx = createContext(config, {
    database,
    log,
    registry,
    instead: {
      readOriginalDestination: (socket) => destinations.get(socket.remoteAddress ?? ''),
      closed: { isClosed: (address) => !address.startsWith('127.') || address.startsWith('127.66.') },
      resolvers: [`127.0.0.1:${dns.port}`],
      resolverPort: dns.port,
      namedPorts: { tls: tlsPort, http: httpPort },
      originAuthorities: [WORLD_AUTHORITY.certificatePem],
    },
  })
  const upkeep = await startUpkeep(ctx)
  const listening = await listenOn(ctx, '127.0.0.1')
  return {
    ctx,
    listening,
    rows,
    database,
    dns,
    upkeep,
    tlsPort,
    httpPort,
    setPolicy: (sandboxId, network) =>
      rows.change(sandboxId, (tx) =>
        tx
          .updateTable('sandbox')
          .set({ network: JSON.stringify(network) })
          .where('sandbox_id', '=', sandboxId)
          .execute(),
      ),
    async addSandbox(sandboxId, address, network, more = {}) {
      await rows.insert(sandboxId)
      await rows.setState(sandboxId, 'running', {
        endpoint_host: address,
        endpoint_daemon_port: 9,
        network: JSON.stringify(network),
        ...more,
      })
    },
    async dial(source, destination) {
      destinations.set(source, destination)
      const socket = connect({ host: '127.0.0.1', port: listening.tcpPort, localAddress: source, allowHalfOpen: true })
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return socket
    },
    async metric(name, labels) {
      const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {}
      const found = values.find((value) => Object.entries(labels).every(([label, text]) => value.labels[label] === text))
      return found?.value ?? 0
    },
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]()
      await drain(ctx)
      await upkeep[Symbol.asyncDispose]()
      await dns[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** A certificate of the stand-in internet. */
export function worldCertificate(name: string): { readonly cert: string; readonly key: string } {
  const { certificatePem, privateKeyPem } = leafFor(WORLD_AUTHORITY, name)
  return { cert: certificatePem, key: privateKeyPem.reveal() }
}

export const WORLD_CA = WORLD_AUTHORITY.certificatePem

/** Listens on every loopback address. */
export async function listenOnPort<S extends Server | TlsServer>(server: S, port: number, host = '0.0.0.0'): Promise<S & AsyncDisposable> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

/** A TLS server that answers each connection with its address and the name that it was asked for. */
export function echoTls(name: string): TlsServer {
  return createTlsServer({ ...worldCertificate(name), allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.write(`${socket.localAddress} ${String(socket.servername)}\n`)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.on('end', () => socket.end('bye'))
  })
}

/** A server on every loopback address that sends back what it gets. */
export async function listenEcho(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = await listenOnPort(
    createServer((socket) => socket.pipe(socket)),
    0,
  )
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
