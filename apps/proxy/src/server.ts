import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { watchSandboxes } from '@sandyard/db/rows/watch-sandboxes'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { answerError } from './answer-error.ts'
import { refuseConnect } from './answers/raw-answer.ts'
import type { ProxyConfig } from './config.ts'
import { MAX_REFUSED } from './connections/client-connections.ts'
import type { ProxyContext } from './context.ts'
import { isOwnHost } from './inbound/host.ts'
import { hasBody, isChunked } from './message/head.ts'
import { joinSmallPieces } from './message/join-small-pieces.ts'
import { NodeResponse } from './message/node-response.ts'
import { ACCESS_TOKEN } from './message/token-headers.ts'
import type { DownstreamRequest, DownstreamResponse, RequestHead } from './message/downstream-message.ts'
import { loadKernelPipes } from './native/kernel-pipe.ts'
import { PlainConnections } from './plain/plain-connections.ts'
import { requestIdHeader } from './request-scope.ts'
import { serveRequest } from './serve-request.ts'
import { isForwardedUpgrade, refuseUpgrade, serveUpgrade } from './serve-upgrade.ts'

export interface ProxyServer {
  readonly http: Server
  /** Starts to follow the routes and listens on the configured address. Rejects when the port is taken. */
  listen(): Promise<AddressInfo>
  /** Stops listening, lets requests continue for `drainMs`, then resets the rest. Safe to repeat. */
  close(): Promise<void>
}

/** What answers a request. */
interface Work {
  /** Excluded from the caps. */
  readonly isExempt?: boolean
  readonly work: () => Promise<void> | void
}

export function createProxyServer(ctx: ProxyContext): ProxyServer {
  const { clients, config } = ctx
  let isClosing = false
  const enter = (req: DownstreamRequest, res: DownstreamResponse, { isExempt = false, work }: Work): void => {
    clients.enter({
      req,
      res,
      isExempt,
      serve: async () => {
        await work()
        await sent(res)
      },
      refuse: (error) => {
        answerError(ctx, { req, res, err: error, isLast: true })
        return sent(res)
      },
    })
  }
  const serve = (req: DownstreamRequest, res: DownstreamResponse): void => {
    if (isHealthProbe(req)) enter(req, res, { isExempt: true, work: () => answerHealth(req, res, isClosing) })
    else enter(req, res, { work: () => serveRequest(ctx, req, res) })
  }
  const serveByNode = (req: IncomingMessage, res: ServerResponse): void => {
    if (isChunked(req)) joinSmallPieces(req)
    serve(req, res)
  }
  const server = createServer({ ...OPTIONS, ...limitOptions(config), ServerResponse: NodeResponse }, serveByNode)
  server.maxConnections = config.maxConnections + MAX_REFUSED
  // The size of a head is capped, so the number of headers is not: Node would refuse more than a thousand.
  server.maxHeadersCount = 0
  // A client that has ended its sending still waits for its answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('checkContinue', serveByNode)
  // Node would answer at once, before the answers to earlier plain requests.
  server.on('checkExpectation', (req, res) => enter(req, res, { work: () => refuseExpectation(req, res) }))
  server.on('upgrade', (req, _, head) => {
    clients.enter({ req, serve: () => serveUpgrade(ctx, req, head), refuse: (error) => refuseUpgrade(ctx, req, error) })
  })
  server.on('connect', (req) => {
    const refuse = (): void => refuseConnect(req)
    clients.enter({ req, isExempt: true, serve: refuse, refuse })
  })
  server.on('clientError', (err: NodeJS.ErrnoException, socket) => {
    if (err.code !== 'ERR_HTTP_REQUEST_TIMEOUT') plain.ignoreEnd(socket as Socket)
    clients.enterMalformed(socket as Socket, err)
  })
  server.on('drop', () => ctx.metrics.countRefused('connections'))
  const plain = new PlainConnections(server, {
    ...config,
    serve,
    onRead: (socket, bytes) => clients.read(socket, bytes),
    onMalformed: (socket, err) => clients.enterMalformed(socket, err),
    onSilence: (socket) => clients.enterMalformed(socket, Object.assign(new Error('no request'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })),
  })
  server.on('connection', (socket) => {
    // Upgrades and refusals leave the HTTP server, and an error without a listener would end the process. Only the close is used.
    socket.on('error', () => undefined)
    if (clients.accept(socket)) plain.accept(socket)
    else if (!socket.destroyed) plain.acceptByNode(socket)
  })

  let watching: AsyncDisposable | undefined
  let closed: Promise<void> | undefined
  return {
    http: server,
    async listen() {
      const { bind, port } = ctx.config
      await loadKernelPipes().catch((err: unknown) =>
        ctx.log.traffic.warn({ err }, 'splice(2) cannot be called, so large answers are copied'),
      )
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, bind, resolve)
      })
      const { routes, tracker, catalog, pool, tokens, changes, log } = ctx
      const memories = [catalog, pool, tokens, changes]
      watching = watchSandboxes({ name: 'proxy', watch: (watcher) => routes.watch(watcher), tracker, memories, log: log.routes })
      return server.address() as AddressInfo
    },
    close() {
      isClosing = true
      closed ??= stop(ctx, server, plain).then(() => watching?.[Symbol.asyncDispose]())
      return closed
    },
  }
}

const OPTIONS = {
  /** A body has no time limit; a head has one. */
  requestTimeout: 0,
  /** A request without a Host header gets the same text as any other wrong host. */
  requireHostHeader: false,
  keepAlive: true,
  keepAliveInitialDelay: 20_000,
  optimizeEmptyRequests: true,
  shouldUpgradeCallback: isForwardedUpgrade,
}

/** How often heads are checked against their deadline. */
const MAX_HEADERS_CHECK_MS = 5000

function limitOptions({ idleTimeoutMs, headersTimeoutMs, maxHeaderBytes }: ProxyConfig): ServerOptions {
  return {
    // Clients keep idle connections for 300 s and do not repeat a call when the server closes its connection (clients-python-2.63.md 9).
    keepAliveTimeout: idleTimeoutMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, MAX_HEADERS_CHECK_MS),
    maxHeaderSize: maxHeaderBytes,
  }
}

const TEXT = ['Content-Type', 'text/plain; charset=utf-8']

/** A request for the proxy itself (control-plane.md 1.1): without these headers it is for no sandbox. */
function isHealthProbe({ method, url, headers }: RequestHead): boolean {
  const isProbe = url === '/health' && (method === 'GET' || method === 'HEAD')
  const namesSandbox = [headers['e2b-sandbox-id'], headers['e2b-sandbox-port'], headers[ACCESS_TOKEN]].some((value) => value !== undefined)
  return isProbe && !namesSandbox && isOwnHost(headers.host ?? '')
}

function answerHealth(req: RequestHead, res: DownstreamResponse, isClosing: boolean): void {
  const [status, text] = isClosing ? [503, 'Service is unavailable'] : [200, 'Health check successful']
  res.writeHead(status, [...TEXT, ...requestIdHeader(req), 'Cache-Control', 'no-store']).end(text)
}

function refuseExpectation(req: RequestHead, res: DownstreamResponse): void {
  // A client that keeps its body back would have its next request read as the body.
  const close = hasBody(req) ? ['Connection', 'close'] : []
  res.writeHead(417, [...requestIdHeader(req), 'Content-Length', '0', ...close]).end()
}

/** Resolves when an answer was sent, or its connection is closed. */
function sent(res: DownstreamResponse): Promise<void> {
  if (res.writableFinished || res.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    res.once('finish', resolve)
    res.once('close', resolve)
  })
}

async function stop(ctx: ProxyContext, server: Server, plain: PlainConnections): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  plain.stop()
  const drained = { what: 'open requests', timeoutMs: ctx.config.drainMs, everyMs: 20 }
  await pollUntil(drained, () => (ctx.tracker.count + ctx.liveRoutes.waiting === 0 ? true : undefined)).catch(() => undefined)
  ctx.liveRoutes.stop()
  ctx.tracker.resetAll()
  // The resets must reach their sockets before these are closed in order.
  await setImmediate()
  server.closeAllConnections()
  plain.destroyAll()
  ctx.pool[Symbol.dispose]()
  await closed
}
