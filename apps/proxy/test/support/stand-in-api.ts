import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StandInApi extends AsyncDisposable {
  readonly url: string
  /** All requests so far: method, path and `Authorization`. */
  readonly asked: string[]
  /** Answers of clients that still wait. */
  readonly open: Set<ServerResponse>
  /** What it does with a request; by default it answers 404. */
  handle: (req: IncomingMessage, res: ServerResponse) => void
}

/** A control plane that only knows the route with which a proxy has a sandbox resumed. */
export async function startStandInApi(): Promise<StandInApi> {
  const server = createServer((req, res) => {
    api.asked.push(`${req.method} ${req.url} ${req.headers.authorization}`)
    api.open.add(res)
    res.once('close', () => api.open.delete(res))
    api.handle(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const api: StandInApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    open: new Set(),
    handle: (_, res) => void res.writeHead(404).end('{}'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return api
}

/** Answers a request as the control plane does. */
export function answerJson(res: ServerResponse, status: number, body: object = {}): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
