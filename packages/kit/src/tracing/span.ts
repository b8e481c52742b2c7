import { currentScope, runInScope, type Scope } from './scope.ts'

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** A part of a trace. */
export interface Span {
  readonly traceId: string
  /** False for a trace that is not sampled: nothing is recorded of it. */
  readonly isRecording: boolean
  /** `traceparent` and `tracestate`, which continue the trace in another process. */
  readonly headers: Readonly<Record<string, string>>
  set(attributes: SpanAttributes): void
  /** Ends it, as failed when there is an error. */
  end(err?: unknown): void
}

export interface SpanStart {
  /** Few different ones: without ids. */
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal'
  /** A span of this process, or the headers of a request. */
  readonly parent?: Span | RemoteParent | undefined
  readonly attributes: SpanAttributes
}

/** The headers of a request that may belong to a trace (W3C Trace Context). */
export interface RemoteParent {
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
}

/** Makes spans while tracing is on. */
export interface Tracer {
  start(span: SpanStart): Span
}

/** One for the process, as in OpenTelemetry itself: the code that it follows knows nothing of its settings. */
let tracer: Tracer | undefined

/** Makes spans from now on with `next`; returns the function that ends that. */
export function useTracer(next: Tracer): () => void {
  tracer = next
  return () => {
    if (tracer === next) tracer = undefined
  }
}

/** The first span of this process for a request or a piece of work. Undefined while tracing is off. The caller ends it. */
export function startRootSpan(start: SpanStart): Span | undefined {
  return tracer?.start(start)
}

/** A span below the current one. Undefined while nothing is recorded. The caller ends it. */
export function startSpan(name: string, kind: SpanStart['kind'], attributes: SpanAttributes = {}): Span | undefined {
  const parent = tracer === undefined ? undefined : currentScope()?.span
  return parent?.isRecording === true ? tracer?.start({ name, kind, parent, attributes }) : undefined
}

/** Runs `work` in a span below the current one. Without a recorded span it only runs `work`. */
export function inSpan<T>(name: string, attributes: SpanAttributes, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const span = startSpan(name, 'internal', attributes)
  return span === undefined ? work(undefined) : followed(span, { ...currentScope(), span }, work)
}

/** Runs `work` as a trace of its own, for work that no request waits for. */
export function inRootSpan<T>(name: string, attributes: SpanAttributes, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const span = startRootSpan({ name, kind: 'internal', attributes })
  return span === undefined ? work(undefined) : followed(span, { span }, work)
}

async function followed<T>(span: Span, scope: Scope, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await runInScope(scope, () => work(span))
    span.end()
    return result
  } catch (err) {
    span.end(err)
    throw err
  }
}
