import { describe, expect, it } from 'vitest'
import { parseConfig, type Environment } from '../config/parse-config.ts'
import { readTracing, TRACING_SETTINGS, type TracingConfig } from './tracing-config.ts'

const read = (environment: Environment): TracingConfig => readTracing(parseConfig(TRACING_SETTINGS, environment))

describe('readTracing', () => {
  it.each<[string, Environment, string | undefined]>([
    ['is off by default', {}, undefined],
    ['is on with an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }, 'http://collector:4318/v1/traces'],
    ['keeps the path of an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.test/otlp' }, 'https://c.test/otlp/v1/traces'],
    [
      'prefers the URL for traces',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/x' },
      'http://b/x',
    ],
    ['is on with the exporter alone', { OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
    ['is off with the exporter none', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }, undefined],
  ])('%s', (_, environment, url) => {
    expect(read(environment).url).toBe(url)
  })

  it('reads attributes, and hides the headers', () => {
    const config = read({ OTEL_RESOURCE_ATTRIBUTES: 'a=b, c=d%20e', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x' })
    expect(config.resource).toEqual({ a: 'b', c: 'd e' })
    expect(JSON.stringify(config)).not.toContain('Bearer')
  })

  it.each<[Environment, RegExp]>([
    [{ OTEL_TRACES_EXPORTER: 'jaeger' }, /OTEL_TRACES_EXPORTER is one of otlp, none/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /not an HTTP URL/],
    [{ OTEL_TRACES_SAMPLER: 'half' }, /OTEL_TRACES_SAMPLER is one of/],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'no pair' }, /OTEL_EXPORTER_OTLP_HEADERS must be/],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a=%zz' }, /OTEL_RESOURCE_ATTRIBUTES must be/],
  ])('refuses %j', (environment, message) => {
    expect(() => read(environment)).toThrow(message)
  })
})
