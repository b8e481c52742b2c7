import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from '../logging/create-logger.ts'
import { runInScope } from './scope.ts'

type Export = SpanExporter['export']

/** `ExportResultCode.SUCCESS` of a package that is not loaded for one number. */
const SENT = 0

/** Reports when a collector stops taking spans and when it takes them again: one line for each, however often it fails. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #log: Logger
  #lost = 0

  constructor(exporter: SpanExporter, log: Logger) {
    this.#exporter = exporter
    this.#log = log
  }

  export(...[spans, done]: Parameters<Export>): void {
    // The timer of a batch was set by some request, but what it sends is of many.
    runInScope({}, () => {
      this.#exporter.export(spans, (result) => {
        if ((result.code as number) === SENT) this.#sent()
        else this.#failed(spans.length, result.error)
        done(result)
      })
    })
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.()
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }

  #sent(): void {
    if (this.#lost > 0) this.#log.info({ lost: this.#lost }, 'the collector takes traces again')
    this.#lost = 0
  }

  #failed(count: number, err: unknown): void {
    if (this.#lost === 0) this.#log.warn({ err }, 'the collector does not take traces: they are dropped')
    this.#lost += count
  }
}
