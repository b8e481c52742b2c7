import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A service in a sandbox that attacks the proxy. It uses only Node, so that it can be copied into a sandbox and run there: `node hostile-service.ts <port>`. */
export interface HostileService extends AsyncDisposable {
  readonly port: number
}

const FLOOD_BYTES = 200 * 1024 * 1024
const HINT = Buffer.from(`HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(1000)}\r\n\r\n`.repeat(64))
const MAX_HEAD_BYTES = 1024 * 1024
const BODY = Buffer.alloc(64 * 1024, 'x')

/** `/interim` sends 200 MiB of interim answers, `/endless` a body of the same size, `/held` no answer, `/stats` its figures, other paths `ok`. */
export async function startHostileService(port: number, host: string): Promise<HostileService> {
  const seen = { bytes: 0, atOnce: 0 }
  let inFlight = 0
  const sockets = new Set<Socket>()
  const server = createServer({ requestTimeout: 0, maxHeaderSize: MAX_HEAD_BYTES }, (req: IncomingMessage, res: ServerResponse) => {
    if (req.url === '/stats') {
      res.end(JSON.stringify(seen))
      Object.assign(seen, { bytes: 0, atOnce: inFlight })
      return
    }
    inFlight += 1
    seen.atOnce = Math.max(seen.atOnce, inFlight)
    res.once('close', () => (inFlight -= 1))
    if (req.url === '/interim') flood(req.socket, HINT, seen)
    else if (req.url === '/endless') flood(res, BODY, seen)
    else if (req.url !== '/held') req.resume().once('end', () => res.end('ok'))
  })
  // Node refuses more than a thousand headers.
  server.maxHeadersCount = 0
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Writes `chunk` repeatedly at the pace of the other side, up to `FLOOD_BYTES`. */
function flood(to: Socket | ServerResponse, chunk: Buffer, seen: { bytes: number }): void {
  let sent = 0
  const more = (): void => {
    while (sent < FLOOD_BYTES && !to.destroyed) {
      sent += chunk.length
      seen.bytes += chunk.length
      if (!to.write(chunk)) return
    }
  }
  to.on('drain', more)
  more()
}

if (import.meta.main) await startHostileService(Number(process.argv[2] ?? 8080), '0.0.0.0')
