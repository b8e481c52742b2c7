import type { Logger } from '../logging/create-logger.ts'
import { useTracer } from './span.ts'
import type { TracingConfig } from './tracing-config.ts'

export interface TracingOptions {
  /** The name of the process in traces. */
  readonly service: string
  readonly version: string
  readonly log: Logger
}

/** Ends tracing. */
type EndTracing = () => Promise<void>

/**
 * Traces what this process does from now on. Without a URL nothing happens: the libraries are not even loaded.
 *
 * @returns a function that ends it and sends what is left, within its own deadline
 */
export async function openTracing(config: TracingConfig, options: TracingOptions): Promise<EndTracing> {
  const { url } = config
  if (url === undefined) return async () => undefined
  const { OtlpTracer } = await import('./otlp-tracer.ts')
  const tracer = new OtlpTracer({ ...config, url }, options)
  const stop = useTracer(tracer)
  return async () => {
    stop()
    await tracer.close()
  }
}
