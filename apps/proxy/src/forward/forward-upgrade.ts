import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import { connectSockets } from '@sandyard/kit/net/connect-sockets'
import { awaitAnswer, explainSilence } from './await-answer.ts'
import type { Exchange } from './find-exchange.ts'
import { ClientGone, whileTracked, type Forwarding } from './forwarding.ts'
import { breakOff } from './open-tunnel.ts'
import { openUpstream } from './open-upstream.ts'
import type { ReadAhead } from './read-ahead.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import { endAndLinger } from '../answers/raw-answer.ts'
import { unwatchHalfOpen } from '../connections/half-open.ts'
import { formatHead } from '../message/head.ts'
import { joinSmallPieces } from '../message/join-small-pieces.ts'
import { capPartialHead, MAX_ANSWER_HEAD_BYTES } from './partial-head.ts'
import { capInterim } from './relay-interim.ts'
import { responseHeaders } from './response-headers.ts'

/**
 * Forwards a request for another protocol. If the service switches, the two connections are joined byte for byte in
 * both directions. If it answers in HTTP, the client gets that answer and the connection is closed: without a switch a connection
 * never carries a second request past the proxy's checks.
 *
 * @param ahead reads the bytes that the client sends after the head of its request
 * @throws ProxyError when the client has not received an answer yet
 */
export async function forwardUpgrade(forwarding: Forwarding, exchange: Exchange, ahead: ReadAhead): Promise<void> {
  const { req } = exchange
  await whileTracked(forwarding, exchange, async (signal) => {
    const socket = await openUpstream(forwarding, exchange, signal)
    const upstream = prepare(exchange, socket)
    capInterim(upstream, exchange.sandboxId, forwarding.limits)
    capPartialHead(upstream, exchange.sandboxId)
    const reply = await askToSwitch(upstream, signal).catch(async (err: unknown) => {
      breakOff(socket)
      throw err instanceof ProxyError || err instanceof ClientGone ? err : await explainSilence(forwarding, exchange, err)
    })
    const sockets = [req.socket, reply.answer.socket]
    const reset = (): void => {
      if (signal.reason instanceof ProxyError) for (const socket of sockets) resetSocket(socket)
    }
    signal.addEventListener('abort', reset)
    const client = { socket: req.socket, head: ahead.take() }
    if (reply.switched === undefined) await relayRefusal(reply.answer, req.socket)
    else await relaySwitched(reply.answer, reply.switched, client)
  })
}

function prepare({ inbound: { method, path }, headers }: Exchange, socket: Socket): ClientRequest {
  const upstream = request({ createConnection: () => socket, method, path, headers, maxHeaderSize: MAX_ANSWER_HEAD_BYTES })
  upstream.maxHeadersCount = 0
  // An error of a request without a listener would end the process.
  return upstream.on('error', () => undefined)
}

/** A connection after its switch, with the bytes that were already read from it. */
interface Switched {
  readonly socket: Socket
  readonly head: Buffer
}

interface Reply {
  readonly answer: IncomingMessage
  /** Absent when the service did not switch. */
  readonly switched?: Switched
}

function askToSwitch(upstream: ClientRequest, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    upstream.once('upgrade', (answer, socket, head) => resolve({ answer, switched: { socket, head } }))
    const answered = (answer: IncomingMessage): void => {
      joinSmallPieces(answer)
      resolve({ answer })
    }
    awaitAnswer(upstream, { answered, failed: reject })
    upstream.end()
  })
}

async function relaySwitched(answer: IncomingMessage, service: Switched, client: Switched): Promise<void> {
  const { statusCode: status = 101, statusMessage: reason, rawHeaders: headers } = answer
  client.socket.write(formatHead({ status, reason, headers }), 'latin1')
  // The answer stays in memory until the connection ends.
  headers.length = 0
  if (service.head.length > 0) client.socket.write(service.head)
  if (client.head.length > 0) service.socket.write(client.head)
  unwatchHalfOpen(client.socket)
  await connectSockets(client.socket, service.socket)
}

async function relayRefusal(answer: IncomingMessage, socket: Socket): Promise<void> {
  const { statusCode: status = 502, statusMessage: reason } = answer
  socket.write(formatHead({ status, reason, headers: [...responseHeaders(answer, false), 'Connection', 'close'] }), 'latin1')
  answer.pipe(socket, { end: false })
  answer.once('end', () => endAndLinger(socket))
  answer.once('error', () => resetSocket(socket))
  await new Promise((resolve) => socket.once('close', resolve))
  answer.destroy()
}
