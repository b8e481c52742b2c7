import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface InitAnswer {
  readonly status: number
  readonly text: string
}

/** Records the bodies of `/init` and the keys of instances, newest last. */
export interface DaemonStub extends AsyncDisposable {
  readonly port: number
  readonly inits: Record<string, unknown>[]
  readonly instanceKeys: unknown[]
  /** The headers `X-Request-ID` and `traceparent` of each call of `/init`. */
  readonly requestIds: unknown[]
  readonly traceparents: unknown[]
  /** The answers to the next calls of `/init`; 204 when empty. */
  readonly answers: (number | InitAnswer | 'hang' | Promise<number>)[]
  /** Whether `/health` answers 204. Default: true. */
  isResponsive: boolean | Promise<boolean>
  /** Calls of `/health`. */
  readonly probes: number
  /** Answers reads such as `/metrics`, with the path and the query. Default: 404 to all. */
  report: (url: string) => object | 'hang' | undefined
  /** Connections that are open now, and all that were opened so far. */
  readonly connections: { readonly open: number; readonly opened: number }
}

/** A server at the address of the daemons of fake sandboxes. */
export async function startDaemonStub(): Promise<DaemonStub> {
  const inits: Record<string, unknown>[] = []
  const instanceKeys: unknown[] = []
  const requestIds: unknown[] = []
  const traceparents: unknown[] = []
  const answers: DaemonStub['answers'] = []
  let probes = 0
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/health') {
      probes += 1
      return void response.writeHead((await stub.isResponsive) ? 204 : 503).end()
    }
    if (request.method === 'GET') return answerRead(stub.report(request.url ?? ''), response)
    const next = (await answers.shift()) ?? 204
    if (next === 'hang') return
    const { status, text } = typeof next === 'number' ? { status: next, text: '' } : next
    const body = await readJson(request)
    if (status === 204) {
      inits.push(body)
      requestIds.push(request.headers['x-request-id'])
      traceparents.push(request.headers['traceparent'])
      instanceKeys.push(request.headers['x-sandyard-instance-key'])
    }
    response.writeHead(status).end(text)
  }
  const server = createServer((request, response) => void serve(request, response))
  const connections = { open: 0, opened: 0 }
  server.on('connection', (socket) => {
    connections.open += 1
    connections.opened += 1
    socket.once('close', () => (connections.open -= 1))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stub: DaemonStub = {
    port: (server.address() as AddressInfo).port,
    inits,
    instanceKeys,
    requestIds,
    traceparents,
    answers,
    isResponsive: true,
    get probes() {
      return probes
    },
    connections,
    report: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}

function answerRead(answer: object | 'hang' | undefined, response: ServerResponse): void {
  if (answer === 'hang') return
  if (answer === undefined) response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text) as Record<string, unknown>
}
