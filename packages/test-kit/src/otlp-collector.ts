import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A span as a collector gets it. */
export interface CollectedSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** 2: failed. */
  readonly status: number
}

interface Pair {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Wire {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

interface WireSpan extends Pick<CollectedSpan, 'name' | 'traceId' | 'spanId' | 'parentSpanId' | 'kind'> {
  readonly attributes: readonly Pair[]
  readonly status: { readonly code?: number }
}

export interface Collector extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: CollectedSpan[]
  /** The headers of the last request. */
  readonly headers: () => Readonly<Record<string, unknown>>
  /** How many requests have arrived. */
  readonly requests: () => number
}

/** A collector for OTLP in JSON over HTTP on a free port. One that hangs reads and never answers. */
export async function startCollector({ hangs = false }: { readonly hangs?: boolean } = {}): Promise<Collector> {
  const spans: CollectedSpan[] = []
  let headers = {}
  let requests = 0
  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    requests += 1
    headers = req.headers
    const body = JSON.parse(await text(req)) as Wire
    if (hangs || req.url !== '/v1/traces') return
    spans.push(...decode(body))
    res.setHeader('content-type', 'application/json').end('{}')
  }
  const server = createServer((req, res) => void serve(req, res))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers: () => headers,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function decode({ resourceSpans }: Wire): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)['service.name'])
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ name, traceId, spanId, parentSpanId, kind, attributes, status }) => {
        return { service, name, traceId, spanId, parentSpanId, kind, attributes: toRecord(attributes), status: status.code ?? 0 }
      }),
    )
  })
}

function toRecord(pairs: readonly Pair[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
}
