import { ConfigError, env, type ConfigOf, type ConfigSchema } from '../config/parse-config.ts'
import { Secret } from '../config/secret.ts'

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof SAMPLERS)[number]

const EXPORTERS: readonly string[] = ['otlp', 'none']
const DEFAULT_ENDPOINT = 'http://localhost:4318'

/** The settings of OpenTelemetry that a process of ours obeys. Without an endpoint and an exporter nothing is traced. */
export const TRACING_SETTINGS = {
  tracesExporter: env.text('OTEL_TRACES_EXPORTER', {
    default: undefined,
    doc: '`otlp` or `none`. Default: `otlp` if there is an endpoint, else `none`',
  }),
  otlpEndpoint: env.text('OTEL_EXPORTER_OTLP_ENDPOINT', {
    default: undefined,
    doc: `URL of an OpenTelemetry collector, which gets traces by OTLP over HTTP in JSON at \`/v1/traces\` below it. Default with \`otlp\`: ${DEFAULT_ENDPOINT}`,
  }),
  otlpTracesEndpoint: env.text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', {
    default: undefined,
    doc: 'the whole URL for traces, instead of the former',
  }),
  otlpHeaders: env.secret('OTEL_EXPORTER_OTLP_HEADERS', {
    default: undefined,
    doc: 'headers for the collector: `name=value`, comma-separated',
  }),
  tracesSampler: env.text('OTEL_TRACES_SAMPLER', {
    default: 'parentbased_always_on',
    doc: 'which requests are traced: `always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`, which obeys the `traceparent` of the client first',
  }),
  tracesSamplerArg: env.share('OTEL_TRACES_SAMPLER_ARG', { default: 1, doc: 'the share of `traceidratio`, 0 to 1' }),
  otelResourceAttributes: env.text('OTEL_RESOURCE_ATTRIBUTES', {
    default: undefined,
    doc: 'further attributes of the traces: `name=value`, comma-separated',
  }),
} satisfies ConfigSchema

export interface TracingConfig {
  /** Where traces are sent. Undefined: tracing is off. */
  readonly url: string | undefined
  readonly headers: Secret
  readonly sampler: SamplerName
  readonly ratio: number
  readonly resource: Readonly<Record<string, string>>
}

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkTracing(settings: ConfigOf<typeof TRACING_SETTINGS>, problems: string[]): TracingConfig {
  const { otlpEndpoint, otlpTracesEndpoint, tracesSampler, tracesSamplerArg, otlpHeaders, otelResourceAttributes } = settings
  const exporter = settings.tracesExporter ?? (otlpEndpoint === undefined && otlpTracesEndpoint === undefined ? 'none' : 'otlp')
  if (!EXPORTERS.includes(exporter)) problems.push(`OTEL_TRACES_EXPORTER is one of ${EXPORTERS.join(', ')}, not "${exporter}"`)
  const url = otlpTracesEndpoint ?? `${(otlpEndpoint ?? DEFAULT_ENDPOINT).replace(/\/+$/, '')}/v1/traces`
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    problems.push(`OTEL_EXPORTER_OTLP_ENDPOINT is not an HTTP URL: "${url}"`)
  const sampler = SAMPLERS.find((name) => name === tracesSampler)
  if (sampler === undefined) problems.push(`OTEL_TRACES_SAMPLER is one of ${SAMPLERS.join(', ')}, not "${tracesSampler}"`)
  if (parsePairs(otlpHeaders?.reveal()) === undefined) problems.push('OTEL_EXPORTER_OTLP_HEADERS must be <name>=<value>, comma-separated')
  const resource = parsePairs(otelResourceAttributes)
  if (resource === undefined) problems.push('OTEL_RESOURCE_ATTRIBUTES must be <name>=<value>, comma-separated')
  return {
    url: exporter === 'otlp' ? url : undefined,
    headers: otlpHeaders ?? new Secret(''),
    sampler: sampler ?? 'always_off',
    ratio: tracesSamplerArg,
    resource: resource ?? {},
  }
}

/** @throws ConfigError that lists every problem */
export function readTracing(settings: ConfigOf<typeof TRACING_SETTINGS>): TracingConfig {
  const problems: string[] = []
  const config = checkTracing(settings, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** Reads `name=value`, comma-separated, with percent encoding in values. Undefined for other text. */
export function parsePairs(text: string | undefined): Record<string, string> | undefined {
  const parts = (text ?? '').split(',').filter((part) => part.trim() !== '')
  const pairs = parts.map((part) => /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(part))
  if (pairs.includes(null)) return undefined
  try {
    return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', decodeURIComponent(pair?.[2] ?? '')]))
  } catch {
    return undefined
  }
}
