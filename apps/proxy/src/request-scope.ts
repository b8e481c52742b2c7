import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { runInScope } from '@sandyard/kit/tracing/scope'
import { startRootSpan, type Span } from '@sandyard/kit/tracing/span'
import type { RequestHead } from './message/downstream-message.ts'

const known = new WeakMap<RequestHead, RequestFacts>()

function factsOf(req: RequestHead): RequestFacts {
  const found = known.get(req) ?? new RequestFacts({ header: req.headers['x-request-id'] })
  known.set(req, found)
  return found
}

/** The id of a request, as a header of an answer that the proxy makes itself. Those of sandboxes are forwarded as they are. */
export function requestIdHeader(req: RequestHead): readonly [string, string] {
  return ['X-Request-ID', factsOf(req).id]
}

/** Does the work for a request: lines of the log and calls of ours have its id. The span is undefined while the request is not traced. */
export function inRequestScope(req: RequestHead, work: (span: Span | undefined) => Promise<void>): Promise<void> {
  const { headers, method = '' } = req
  const request = factsOf(req)
  const span = startRootSpan({
    name: `proxy ${method}`,
    kind: 'server',
    parent: { traceparent: single(headers['traceparent']), tracestate: single(headers['tracestate']) },
    attributes: { 'http.request.method': method },
  })
  if (span?.isRecording === true) span.set({ 'sandyard.request_id': request.id })
  return runInScope({ request, span }, () => work(span))
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
