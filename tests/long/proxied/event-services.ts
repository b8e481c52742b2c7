import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Services of sandboxes on the same port of several addresses. */
export interface EventServices extends AsyncDisposable {
  readonly port: number
}

/**
 * `GET /events` opens a stream of server-sent events that stays silent after its first event; `POST /tick` sends one event to all streams
 * of its service and answers with their number; `GET /open` answers with their number.
 */
export async function startEventServices(hosts: readonly string[]): Promise<EventServices> {
  const servers: Server[] = []
  let port = 0
  for (const host of hosts) {
    const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, eventService())
    servers.push(server)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ port, host, backlog: 4096 }, resolve))
    port = (server.address() as AddressInfo).port
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.closeAllConnections()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

function eventService(): (req: IncomingMessage, res: ServerResponse) => void {
  const streams = new Set<ServerResponse>()
  return ({ method, url }, res) => {
    if (url !== '/events') {
      if (method === 'POST') for (const stream of streams) stream.write('data: tick\n\n')
      res.end(String(streams.size))
      return
    }
    streams.add(res)
    res.once('close', () => streams.delete(res))
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: open\n\n')
  }
}
