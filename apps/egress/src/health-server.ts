import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerMetrics, type MetricsPage } from '@sandyard/kit/http/metrics-server'

export interface HealthServer extends AsyncDisposable {
  /** The first one. */
  readonly address: AddressInfo
  /** Answers 503 from now on. */
  stopping(): void
}

export interface HealthAddresses {
  /** At least one. */
  readonly hosts: readonly string[]
  /** Of all of them; 0 takes one that the first host has free. */
  readonly port: number
}

/** Serves `GET /health` and `GET /metrics`, 404 for all else. @throws when the port is taken, or an address is not of this host */
export async function serveHealth({ hosts, port }: HealthAddresses, page: MetricsPage): Promise<HealthServer> {
  let isStopping = false
  const serveMetrics = answerMetrics(page)
  const serve: RequestListener = (req, res) => {
    if (req.url !== '/health' || (req.method !== 'GET' && req.method !== 'HEAD')) {
      serveMetrics(req, res)
      return
    }
    const [status, text] = isStopping ? [503, 'Service is unavailable'] : [200, 'Health check successful']
    res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }).end(text)
  }
  const servers: Server[] = []
  const close = async (): Promise<void> => {
    for (const server of servers) server.closeAllConnections()
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
  const [first = '127.0.0.1', ...others] = hosts
  try {
    const address = await listen(first, port)
    for (const host of others) await listen(host, address.port)
    return {
      address,
      stopping: () => {
        isStopping = true
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (err) {
    await close()
    throw err
  }

  async function listen(host: string, wanted: number): Promise<AddressInfo> {
    const server = createServer(serve).listen(wanted, host)
    await once(server, 'listening')
    servers.push(server)
    return server.address() as AddressInfo
  }
}
