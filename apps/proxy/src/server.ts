import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { ProxyContext } from './context.ts'
import { isOwnHost } from './address/host.ts'
import { answerMalformed } from './answers/malformed.ts'
import { endWithAnswer } from './answers/raw-answer.ts'
import { serveRequest } from './serve-request.ts'
import { isForwardedUpgrade, serveUpgrade } from './serve-upgrade.ts'
import { watchRoutes } from './routes/watch-routes.ts'

export interface ProxyServer {
  readonly http: Server
  /** Starts to follow the routes and to listen where the config says. Rejects when the port is taken. */
  listen(): Promise<AddressInfo>
  /** Stops listening, lets requests end for `drainMs`, then resets what is left. Safe to repeat. */
  close(): Promise<void>
}

const OPTIONS = {
  /** Clients keep idle connections for 300 s and do not repeat a call on one that the server closes just then (clients-python-2.63.md 9). */
  keepAliveTimeout: 620_000,
  /** A body may take any time, a head may not. */
  headersTimeout: 60_000,
  requestTimeout: 0,
  maxHeaderSize: 64 * 1024,
  /** A request without one gets the text of every other wrong host. */
  requireHostHeader: false,
  keepAlive: true,
  keepAliveInitialDelay: 20_000,
  optimizeEmptyRequests: true,
  shouldUpgradeCallback: isForwardedUpgrade,
}

export function createProxyServer(ctx: ProxyContext): ProxyServer {
  let isClosing = false
  const newest = new WeakMap<Socket, ServerResponse>()
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    newest.set(req.socket, res)
    if (isHealthProbe(req)) answerHealth(res, isClosing)
    else void serveRequest(ctx, req, res)
  }
  const server = createServer(OPTIONS, serve)
  // The size of a head is limited, so its headers are not counted: Node would drop those beyond the count.
  server.maxHeadersCount = 0
  server.on('checkContinue', serve)
  server.on('upgrade', (req, _, head) => void serveUpgrade(ctx, req, head))
  server.on('connect', (req) => endWithAnswer(req.socket, { status: 405, headers: TEXT }, 'CONNECT is not supported'))
  server.on('clientError', (err, socket) => answerMalformed(err, socket as Socket, newest.get(socket as Socket)))
  server.on('connection', (socket) => {
    // One for each request that a client sends ahead of its answers.
    socket.setMaxListeners(0)
    // Upgrades and refusals leave the HTTP server, and an error without a listener would end the process. What matters is the close.
    socket.on('error', () => undefined)
  })

  let watching: AsyncDisposable | undefined
  let closed: Promise<void> | undefined
  return {
    http: server,
    async listen() {
      const { bind, port } = ctx.config
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, bind, resolve)
      })
      watching = watchRoutes(ctx)
      return server.address() as AddressInfo
    },
    close() {
      isClosing = true
      closed ??= stop(ctx, server).then(() => watching?.[Symbol.asyncDispose]())
      return closed
    },
  }
}

const TEXT = ['Content-Type', 'text/plain; charset=utf-8']

/** A request that can only mean the proxy itself (control-plane.md 1.1): no sandbox can be at such a host without the headers. */
function isHealthProbe({ method, url, headers }: IncomingMessage): boolean {
  const isProbe = url === '/health' && (method === 'GET' || method === 'HEAD')
  return isProbe && headers['e2b-sandbox-id'] === undefined && headers['e2b-sandbox-port'] === undefined && isOwnHost(headers.host ?? '')
}

function answerHealth(res: ServerResponse, isClosing: boolean): void {
  const [status, text] = isClosing ? [503, 'Service is unavailable'] : [200, 'Health check successful']
  res.writeHead(status, [...TEXT, 'Cache-Control', 'no-store']).end(text)
}

async function stop(ctx: ProxyContext, server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  const drained = { what: 'open requests', timeoutMs: ctx.config.drainMs, everyMs: 20 }
  await pollUntil(drained, () => (ctx.tracker.count === 0 ? true : undefined)).catch(() => undefined)
  ctx.tracker.resetAll()
  // The resets run to their sockets before these are closed in an orderly way.
  await setImmediate()
  server.closeAllConnections()
  ctx.agents[Symbol.dispose]()
  await closed
}
