import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import { splice } from '@sandyard/kit/net/splice'
import { awaitAnswer } from './await-answer.ts'
import { toUpstreamCall, type Exchange } from './exchange.ts'
import { ClientGone, explainSilence, whileTracked, type Forwarding } from './forwarding.ts'
import { responseHeaders } from './headers.ts'
import { breakOff } from './open-tunnel.ts'
import { openUpstream } from './open-upstream.ts'
import { readAhead } from './read-ahead.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import { endAndLinger, formatHead } from '../answers/raw-answer.ts'

/**
 * Forwards a request that asks for another protocol. Where the service switches, the two connections become one, byte for byte in
 * both directions; where it answers in HTTP, the client gets that answer and the connection ends with it: a connection that did
 * not switch never carries a second request past the proxy's checks.
 *
 * @param head what the client sent after its request's head
 * @throws ProxyError when the client has not got an answer yet
 */
export async function forwardUpgrade(forwarding: Forwarding, exchange: Exchange, head: Buffer): Promise<void> {
  const { route, req } = exchange
  const call = toUpstreamCall(exchange, req.headers.upgrade ?? '')
  await whileTracked(forwarding.tracker, { route, socket: req.socket }, async (signal) => {
    using ahead = readAhead(req.socket, head)
    const upstream = await openUpstream(forwarding, call, signal)
    const reply = await askToSwitch(upstream, signal).catch(async (err: unknown) => {
      breakOff(upstream)
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

/** A connection after its switch, with what had already been read from it. */
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
    awaitAnswer(upstream, { answered: (answer) => resolve({ answer }), failed: reject })
    upstream.end()
  })
}

async function relaySwitched(answer: IncomingMessage, service: Switched, client: Switched): Promise<void> {
  const { statusCode: status = 101, statusMessage: reason, rawHeaders: headers } = answer
  client.socket.write(formatHead({ status, reason, headers }), 'latin1')
  if (service.head.length > 0) client.socket.write(service.head)
  if (client.head.length > 0) service.socket.write(client.head)
  await splice(client.socket, service.socket)
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
