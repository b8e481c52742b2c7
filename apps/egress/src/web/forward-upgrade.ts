import { request, STATUS_CODES, validateHeaderName, validateHeaderValue, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { connectSockets } from '@sandyard/kit/net/connect-sockets'
import { recordDecision } from '../connections/record-decision.ts'
import type { EgressContext } from '../context.ts'
import { DialError } from '../dial/dial-error.ts'
import { admitRequest, type Admitted } from './admit-request.ts'
import { originOf } from './forward-request.ts'
import { fillRule } from './fill-rule.ts'
import { endToEnd, withRule } from './request-headers.ts'
import type { WebConnection } from './web-connection.ts'

/** Forwards a WebSocket handshake, and after it the bytes of both sides. Never rejects. */
export async function forwardUpgrade(ctx: EgressContext, web: WebConnection, req: IncomingMessage, head: Buffer): Promise<void> {
  const { socket } = req
  try {
    const admitted = admitRequest(ctx, web, req)
    if (admitted === undefined) return
    if (head.length > 0) socket.unshift(head)
    const { answer, upstream } = await fillAndShake(ctx, web, req, admitted)
    if (upstream === undefined) {
      // The server answers as to a request; its connection ends with the answer.
      socket.write(headOf(answer, ['Connection', 'close']), 'latin1')
      await pipeline(answer, socket)
      return
    }
    socket.write(headOf(answer, ['Connection', 'Upgrade', 'Upgrade', 'websocket']), 'latin1')
    const ended = connectSockets(socket, upstream)
    socket.setTimeout(ctx.limits.idleTimeoutMs, () => socket.destroy())
    await ended
  } catch (err) {
    if (err instanceof DialError) recordDecision(ctx, web, { verdict: 'deny', rule: err.failure, name: web.current?.name })
    socket.destroy()
  } finally {
    web.current = undefined
    if (!socket.writableEnded) socket.destroy()
  }
}

/** What was filled in is not needed after the handshake. */
async function fillAndShake(ctx: EgressContext, web: WebConnection, req: IncomingMessage, admitted: Admitted): Promise<Handshake> {
  using filled = await fillRule(ctx, web, admitted.rule)
  return await shakeHands(ctx, web, req, { ...admitted, rule: filled?.headers })
}

interface Handshake {
  readonly answer: IncomingMessage
  /** Undefined when the server did not switch. */
  readonly upstream: Socket | undefined
}

function shakeHands(ctx: EgressContext, web: WebConnection, req: IncomingMessage, { name, rule }: Admitted): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>()
  const upstream = request({
    agent: web.agent,
    ...originOf(ctx, web, name),
    method: 'GET',
    path: req.url,
    headers: [...withRule(endToEnd(req.rawHeaders, req.headers), rule), 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
    setHost: false,
  })
  const abandon = (): void => void upstream.destroy()
  req.socket.once('close', abandon)
  upstream.on('upgrade', (answer, socket: Socket, head: Buffer) => {
    req.socket.off('close', abandon)
    if (head.length > 0) socket.unshift(head)
    resolve({ answer, upstream: socket })
  })
  upstream.once('response', (answer) => resolve({ answer, upstream: undefined }))
  upstream.on('error', reject)
  upstream.setTimeout(ctx.limits.idleTimeoutMs, () => upstream.destroy(new Error('the server was silent for too long')))
  upstream.end()
  return promise
}

/** @throws TypeError for a header that Node would refuse to write */
function headOf(answer: IncomingMessage, more: readonly string[]): string {
  const { statusCode = 502 } = answer
  const headers = [...endToEnd(answer.rawHeaders, answer.headers), ...more]
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [toLine(name, headers[i + 1] ?? '')] : []))
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}\r\n${lines.join('')}\r\n`
}

function toLine(name: string, value: string): string {
  validateHeaderName(name)
  validateHeaderValue(name, value)
  return `${name}: ${value}\r\n`
}
