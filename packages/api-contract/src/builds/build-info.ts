import { Type, type Static } from 'typebox'
import { BuildStatus } from '../templates/build-status.ts'
import { DateTime } from '../times.ts'

export const MAX_LOG_ENTRIES = 100

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export const LogLevel = Type.Unsafe<LogLevel>({ type: 'string', enum: ['debug', 'info', 'warn', 'error'], title: 'LogLevel' })

const level = Type.Optional(Type.Unsafe<LogLevel>({ ...LogLevel, description: 'Least severe level to return; all when absent' }))
const limit = Type.Optional(
  Type.Integer({
    format: 'int32',
    minimum: 0,
    maximum: MAX_LOG_ENTRIES,
    default: MAX_LOG_ENTRIES,
    description: 'Maximum number of entries',
  }),
)

export const BuildLogEntry = Type.Object(
  {
    timestamp: DateTime('When it was written'),
    message: Type.String(),
    level: LogLevel,
    step: Type.Optional(Type.String({ description: 'Step of the entry: base, the number of a step from 1, or finalize' })),
  },
  { title: 'BuildLogEntry' },
)
export type BuildLogEntry = Static<typeof BuildLogEntry>

export const BuildStatusReason = Type.Object(
  {
    message: Type.String({ description: 'Why the build failed' }),
    step: Type.Optional(Type.String({ description: 'Step that failed: base, the number of a step from 1, or finalize' })),
    logEntries: Type.Optional(Type.Array(BuildLogEntry, { default: [], description: 'Warnings and errors of that step' })),
  },
  { title: 'BuildStatusReason' },
)
export type BuildStatusReason = Static<typeof BuildStatusReason>

/** Query of `GET /templates/{templateID}/builds/{buildID}/status` (control-plane.md 10.6). */
export const BuildStatusQuery = Type.Object({
  logsOffset: Type.Optional(
    Type.Integer({ format: 'int32', minimum: 0, maximum: 2_147_483_647, default: 0, description: 'Number of entries to skip' }),
  ),
  limit,
  level,
})
export type BuildStatusQuery = Static<typeof BuildStatusQuery>

export const TemplateBuildInfo = Type.Object(
  {
    templateID: Type.String({ description: 'Identifier of the template' }),
    buildID: Type.String({ format: 'uuid', description: 'Identifier of the build' }),
    status: BuildStatus,
    logEntries: Type.Array(BuildLogEntry),
    logs: Type.Array(Type.String(), {
      deprecated: true,
      description: 'The entries as lines of text, only for first-generation builds',
    }),
    reason: Type.Optional(BuildStatusReason),
  },
  { title: 'TemplateBuildInfo' },
)
export type TemplateBuildInfo = Static<typeof TemplateBuildInfo>

/** Query of `GET /templates/{templateID}/builds/{buildID}/logs` (control-plane.md 10.7). */
export const BuildLogsQuery = Type.Object({
  cursor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8_640_000_000_000_000,
      description: 'Start time in Unix milliseconds; inclusive',
    }),
  ),
  limit,
  direction: Type.Optional(
    Type.Unsafe<'forward' | 'backward'>({ type: 'string', enum: ['forward', 'backward'], default: 'forward', title: 'LogsDirection' }),
  ),
  level,
  source: Type.Optional(
    Type.Unsafe<'temporary' | 'persistent'>({
      type: 'string',
      enum: ['temporary', 'persistent'],
      title: 'LogsSource',
      description: 'Both values read the same store',
    }),
  ),
})
export type BuildLogsQuery = Static<typeof BuildLogsQuery>

export const TemplateBuildLogs = Type.Object({ logs: Type.Array(BuildLogEntry) }, { title: 'TemplateBuildLogsResponse' })
export type TemplateBuildLogs = Static<typeof TemplateBuildLogs>
