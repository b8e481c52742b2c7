import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { EgressContext } from '../context.ts'
import { answerLookup } from './answer-lookup.ts'
import { readMessages, toMessage } from './messages.ts'
import { MAX_QUERY_BYTES } from './query.ts'

/** For a question to arrive, and for its answer to be found and taken. */
const TCP_MESSAGE_MS = 10_000
const MAX_CONNECTIONS = 2000
/** Connections of one source; a resolver of a sandbox needs one or two. */
const MAX_SOURCE_CONNECTIONS = 16
/** Lookups of one TCP connection before it is closed. */
const MAX_CONNECTION_LOOKUPS = 1000

export interface DnsServer extends AsyncDisposable {
  readonly port: number
}

/**
 * Listens for redirected lookups, over UDP and TCP on the same port.
 *
 * @throws the error of the system when the address or the port is not available
 */
export async function listenDns(ctx: EgressContext, host: string, port: number): Promise<DnsServer> {
  const tcp = createServer({ pauseOnConnect: true }, (socket) => void serveTcp(ctx, socket))
  tcp.maxConnections = MAX_CONNECTIONS
  const sockets = new Set<Socket>()
  tcp.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  tcp.listen(port, host)
  await once(tcp, 'listening')
  const { port: bound } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  try {
    udp.bind(bound, host)
    await once(udp, 'listening')
  } catch (err) {
    tcp.close()
    throw err
  }
  tcp.on('error', (err) => ctx.log.warn({ err }, 'a connection for lookups was not accepted'))
  udp.on('error', (err) => ctx.log.warn({ err }, 'a lookup could not be answered'))
  udp.on('message', (bytes, { address, port: from }) => {
    const send = (answer: Buffer | undefined): void => {
      if (answer !== undefined) udp.send(answer, from, address, () => undefined)
    }
    void answerLookup(ctx, { bytes, source: address, isUdp: true }).then(send).catch(ignoreClosed)
  })
  return {
    port: bound,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([new Promise((resolve) => tcp.close(resolve)), new Promise<void>((resolve) => udp.close(resolve))])
    },
  }
}

/** An answer that is ready after the server was closed is dropped. */
function ignoreClosed(): void {
  return undefined
}

/** Answers the lookups of a connection one after the other. */
async function serveTcp(ctx: EgressContext, socket: Socket): Promise<void> {
  const { remoteAddress: source = '' } = socket
  socket.on('error', () => undefined)
  using slot = ctx.connectionRate.take(source) ? ctx.slots.take(source) : undefined
  if (slot === undefined) {
    socket.destroy()
    return
  }
  slot.settle()
  using place = ctx.lookupConnections.take(source, MAX_SOURCE_CONNECTIONS)
  if (place === undefined) {
    ctx.metrics.countLookup('limit')
    socket.destroy()
    return
  }
  const closed = new AbortController()
  const deadline = setTimeout(() => socket.destroy(), TCP_MESSAGE_MS)
  socket.once('close', () => {
    clearTimeout(deadline)
    closed.abort()
  })
  let count = 0
  try {
    for await (const bytes of readMessages(socket, MAX_QUERY_BYTES)) {
      deadline.refresh()
      const answer = await answerLookup(ctx, { bytes, source, isUdp: false })
      count += 1
      if (answer === undefined || socket.destroyed || count > MAX_CONNECTION_LOOKUPS) break
      if (!socket.write(toMessage(answer))) await once(socket, 'drain', { signal: closed.signal })
      deadline.refresh()
    }
  } catch {
    // The connection broke.
  } finally {
    socket.end()
    socket.destroySoon()
  }
}
