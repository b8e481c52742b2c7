import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import { resultWithin } from '../async/within.ts'
import { randomId } from '../ids/ids.ts'
import { ReportingExporter } from './reporting-exporter.ts'
import type { RemoteParent, Span, SpanAttributes, SpanStart, Tracer } from './span.ts'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'
import { parsePairs, type TracingConfig } from './tracing-config.ts'
import type { TracingOptions } from './open-tracing.ts'

/** Ended spans that wait to be sent; further ones are dropped. */
const MAX_WAITING = 2048
const MAX_BATCH = 512
const SEND_EVERY_MS = 1000
/** Deadline of one send, with its repetitions. */
const SEND_TIMEOUT_MS = 5000
const CLOSE_TIMEOUT_MS = 2000
/** Enough for the messages of errors; nothing of ours is longer. */
const MAX_ATTRIBUTE_LENGTH = 2048

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const

/** Makes spans of OpenTelemetry and sends them to a collector. What cannot be sent in time is dropped. */
export class OtlpTracer implements Tracer {
  readonly #provider: TracerProvider
  readonly #tracer: OtelTracer

  constructor(config: TracingConfig & { readonly url: string }, { service, version, log }: TracingOptions) {
    const { url, headers, resource } = config
    const exporter = new OTLPTraceExporter({
      url,
      headers: parsePairs(headers.reveal()) ?? {},
      timeoutMillis: SEND_TIMEOUT_MS,
      concurrencyLimit: 1,
    })
    const batches = new BatchSpanProcessor({
      exporter: new ReportingExporter(exporter, log),
      maxQueueSize: MAX_WAITING,
      maxExportBatchSize: MAX_BATCH,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: SEND_TIMEOUT_MS,
    })
    const own = { 'service.name': service, 'service.version': version, 'service.instance.id': randomId(12) }
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ ...own, ...resource }),
      sampler: samplerOf(config),
      spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
      spanProcessors: [batches],
    })
    this.#tracer = this.#provider.getTracer('sandyard', version)
  }

  start({ name, kind, parent, attributes }: SpanStart): Span {
    const context = parent === undefined ? ROOT_CONTEXT : parent instanceof RecordedSpan ? parent.context : remoteContext(parent)
    return new RecordedSpan(this.#tracer.startSpan(name, { kind: KINDS[kind], attributes: present(attributes) }, context))
  }

  /** Sends what is left, for two seconds at most. */
  async close(): Promise<void> {
    await resultWithin(
      CLOSE_TIMEOUT_MS,
      this.#provider.shutdown().catch(() => undefined),
    )
  }
}

class RecordedSpan implements Span {
  readonly traceId: string
  readonly isRecording: boolean
  readonly #span: OtelSpan

  constructor(span: OtelSpan) {
    this.#span = span
    this.traceId = span.spanContext().traceId
    this.isRecording = span.isRecording()
  }

  get context(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.#span)
  }

  get headers(): Readonly<Record<string, string>> {
    const { traceId, spanId, traceFlags: flags, traceState } = this.#span.spanContext()
    const tracestate = traceState?.serialize() ?? ''
    return { traceparent: formatTraceparent({ traceId, spanId, flags }), ...(tracestate !== '' && { tracestate }) }
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(present(attributes))
  }

  end(err?: unknown): void {
    if (err !== undefined) {
      const { name, message } = err instanceof Error ? err : { name: 'Error', message: 'no error was thrown, but another value' }
      this.#span.setAttribute('error.type', name)
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message })
    }
    this.#span.end()
  }
}

function samplerOf({ sampler, ratio }: TracingConfig): Sampler {
  const name = sampler.replace('parentbased_', '')
  const root =
    name === 'always_on' ? new AlwaysOnSampler() : name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio)
  // A span of ours follows the one above it in each case: a trace is recorded whole or not at all.
  const isObeyed = sampler.startsWith('parentbased_')
  return new ParentBasedSampler(isObeyed ? { root } : { root, remoteParentSampled: root, remoteParentNotSampled: root })
}

function remoteContext(parent: Span | RemoteParent): Context {
  if (!('traceparent' in parent)) return ROOT_CONTEXT
  const remote = parseTraceparent(parent.traceparent)
  if (remote === undefined) return ROOT_CONTEXT
  const { traceId, spanId, flags: traceFlags } = remote
  const state = parent.tracestate === undefined ? {} : { traceState: createTraceState(parent.tracestate) }
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...state })
}

function present(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Attributes
}
