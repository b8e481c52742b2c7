import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { runInScope } from '@sandyard/kit/tracing/scope'
import { useTracer, type Span, type SpanAttributes, type SpanStart } from '@sandyard/kit/tracing/span'

export interface RecordedSpan {
  readonly start: SpanStart
  readonly attributes: SpanAttributes
  readonly hasEnded: boolean
  /** Why it failed. */
  readonly err: unknown
}

/** Records the spans of this process, until it is disposed. */
export class RecordedSpans implements Disposable {
  readonly all: RecordedSpan[] = []
  readonly #stop = useTracer({ start: (start) => this.#record(start) })

  get names(): string[] {
    return this.all.map(({ start }) => start.name)
  }

  clear(): void {
    this.all.splice(0)
  }

  /** Runs the work as that of a request which is traced. */
  inRequest<T>(requestId: string, work: () => Promise<T>): Promise<T> {
    const span = this.#record({ name: 'request', kind: 'server', attributes: {} })
    return runInScope({ request: new RequestFacts({ header: requestId }), span }, work)
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #record(start: SpanStart): Span {
    const span = { start, attributes: { ...start.attributes }, hasEnded: false, err: undefined as unknown }
    this.all.push(span)
    return {
      traceId: 'trace',
      isRecording: true,
      headers: {},
      set: (attributes) => void Object.assign(span.attributes, attributes),
      end: (err) => void Object.assign(span, { err, hasEnded: true }),
    }
  }
}
