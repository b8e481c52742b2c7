import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino'
import { scopeFields } from '../tracing/scope.ts'

export type { Logger }

/** Names of headers and fields whose values are never logged, at any depth that the servers log. */
const REDACTED = [
  'x-api-key',
  'x-access-token',
  'x-admin-token',
  'authorization',
  'cookie',
  'e2b-traffic-access-token',
  'apiKey',
  'accessToken',
  'envVars',
  'password',
].flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])

export interface LoggerOptions {
  readonly name: string
  readonly level: string
  /** The destination of the lines; stdout when absent. */
  readonly destination?: DestinationStream
}

/**
 * The root logger of a process: one JSON object a line. Parts use child loggers, which are made in the app's `loggers.ts`. Lines that are
 * written for a request have its id.
 */
export function createLogger({ name, level, destination }: LoggerOptions): Logger {
  const options = {
    name,
    level,
    base: { name },
    mixin: scopeFields,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { err: stdSerializers.errWithCause },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/** A logger that writes nothing, for tests and for libraries without one. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}
