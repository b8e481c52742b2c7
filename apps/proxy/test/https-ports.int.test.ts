import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { leafFor } from '@sandyard/egress-ca/leaf-for'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Secret } from '@sandyard/kit/config/secret'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { MemoryRoutes } from './support/memory-routes.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { SANDBOX_HOST, startSandbox, type StandInSandbox } from './support/start-sandbox.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
const accepted = new Set<Socket>()
let proxy: RunningProxy
let sandbox: StandInSandbox
let service: Server
let plain: RunningService
let port: number

beforeAll(async () => {
  // Nobody trusts its authority.
  const { certificatePem, privateKeyPem } = leafFor(sandboxAuthority(new Secret('nobody'), 'nobody'), 'service.test')
  service = createServer({ cert: certificatePem, key: privateKeyPem.reveal() }, (req, res) => {
    const { servername } = req.socket as TLSSocket
    res.end(JSON.stringify({ host: req.headers.host, servername, path: req.url }))
  })
  service.on('connection', (socket: Socket) => accepted.add(socket))
  new WebSocketServer({ server: service, path: '/ws' }).on('connection', (client) =>
    client.on('message', (data) => client.send(data as Buffer)),
  )
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  ;({ port } = service.address() as AddressInfo)
  plain = await startService((_, res) => res.end('plain'))
  sandbox = await startSandbox()
  proxy = await startProxy(routes)
  const state = { incarnation: 1, state: 'running', httpsPorts: [port] } as const
  routes.put({ sandboxId: 'idirect', ...state, endpoint: { host: '127.0.0.1', daemonPort: 9 } })
  routes.put({ sandboxId: 'imasked', ...state, maskHost: 'app.test:${PORT}', endpoint: { host: '127.0.0.1', daemonPort: 9 } })
  routes.put({ sandboxId: 'ilocal', ...state, endpoint: { host: SANDBOX_HOST, daemonPort: sandbox.daemonPort } })
  routes.put({ sandboxId: 'iwrong', ...state, httpsPorts: [plain.port], endpoint: { host: '127.0.0.1', daemonPort: 9 } })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  await plain[Symbol.asyncDispose]()
  for (const socket of accepted) socket.destroy()
  service.close()
})
afterEach(() => until('no open connection', () => proxy.ctx.tracker.count === 0))

const headers = (id: string, to = port) => ({ 'e2b-sandbox-id': id, 'e2b-sandbox-port': String(to) })

it.each([
  ['on the address of the sandbox', 'idirect', 'localhost'],
  ['on localhost, through the daemon', 'ilocal', 'localhost'],
])('speaks TLS to a service %s, whose certificate nobody trusts', async (_, id, servername) => {
  const name = proxy.url.replace('127.0.0.1', 'localhost')
  const answer = await fetch(`${name}/a?b`, { headers: headers(id) })
  expect(await answer.json()).toEqual({ host: new URL(name).host, servername, path: '/a?b' })
})

it('names the masked host in the handshake, and no address', async () => {
  expect(await (await fetch(proxy.url, { headers: headers('imasked') })).json()).toMatchObject({ servername: 'app.test' })
  expect(await (await fetch(proxy.url, { headers: headers('idirect') })).json()).toMatchObject({ servername: false })
})

it.each(['idirect', 'ilocal'])('carries WebSockets to a service with TLS (%s)', async (id) => {
  const socket = new WebSocket(`${proxy.url}/ws`, { headers: headers(id) })
  await once(socket, 'open')
  const large = Buffer.alloc(1_000_000, 7)
  socket.send(large)
  const [received] = (await once(socket, 'message')) as [Buffer]
  expect(received.equals(large)).toBe(true)
  socket.close()
  await once(socket, 'close')
})

it('answers 502 when the service does not speak TLS', async () => {
  const answer = await fetch(proxy.url, { headers: headers('iwrong', plain.port) })
  expect([answer.status, await answer.json()]).toEqual([502, expect.objectContaining({ code: 502, port: plain.port })])
})
