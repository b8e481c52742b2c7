import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { isSameText } from '@sandyard/kit/secrets/same-text'
import type { Sessions } from './sessions.ts'

interface HttpServerOptions {
  readonly token: string
  readonly sessions: Sessions
  readonly log: Logger
}

const MAX_BODY_BYTES = 8 * 1024 * 1024
/** Longer than the proxy in front keeps idle connections. */
const KEEP_ALIVE_MS = 640_000

/** Serves `/mcp` as the streamable HTTP transport of the protocol, to clients with the token only. */
export function createHttpServer({ token, sessions, log }: HttpServerOptions): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void handle(request, response).catch((err: unknown) => {
      log.error({ err, method: request.method }, 'request failed')
      if (response.headersSent) response.destroy()
      else sendError(response, 500, 'internal error')
    })
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isAllowed(request.headers.authorization, token)) {
      return sendError(
        response.setHeader('www-authenticate', 'Bearer'),
        401,
        'the header "Authorization: Bearer <token>" is missing or wrong',
      )
    }
    if (new URL(request.url ?? '/', 'http://gateway').pathname !== '/mcp') return sendError(response, 404, 'the gateway serves /mcp')
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.find(id) : undefined
    // Clients open a new session at this answer.
    if (id !== undefined && known === undefined) return sendError(response, 404, 'unknown session')
    if (request.method !== 'POST') {
      if (known === undefined) return sendError(response, 400, 'the header "Mcp-Session-Id" is missing')
      return known.handleRequest(request, response)
    }
    const body = await readJson(request)
    if (body.status !== 200) return sendError(response.setHeader('connection', 'close'), body.status, body.message)
    if (known === undefined && !isInitialize(body.value)) return sendError(response, 400, 'the header "Mcp-Session-Id" is missing')
    const transport = known ?? (await sessions.open())
    await transport.handleRequest(request, response, body.value)
  }
}

function isAllowed(header: string | undefined, token: string): boolean {
  const presented = /^bearer (.+)$/i.exec(header ?? '')?.[1]
  return presented !== undefined && isSameText(presented, token)
}

function isInitialize(body: unknown): boolean {
  const messages: unknown[] = Array.isArray(body) ? body : [body]
  return messages.some(
    (message) => typeof message === 'object' && message !== null && 'method' in message && message.method === 'initialize',
  )
}

type Body = { readonly status: 200; readonly value: unknown } | { readonly status: 400 | 413; readonly message: string }

async function readJson(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Without an end of the request, so that a body that is too long gets its answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) return { status: 413, message: `the body has more than ${MAX_BODY_BYTES} bytes` }
    chunks.push(chunk)
  }
  try {
    return { status: 200, value: JSON.parse(Buffer.concat(chunks).toString()) }
  } catch {
    return { status: 400, message: 'the body is not JSON' }
  }
}

function sendError(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } })
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}
