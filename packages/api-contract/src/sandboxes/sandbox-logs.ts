import { Type, type Static } from 'typebox'
import { LogLevel } from '../builds/build-info.ts'
import { DateTime } from '../times.ts'

/** The most lines of one answer (control-plane.md 8.2). */
export const MAX_SANDBOX_LOGS = 1000

const MAX_SEARCH_LENGTH = 256
/** The last instant of a Date. */
const MAX_TIME_MS = 8_640_000_000_000_000

export const SandboxLog = Type.Object(
  { timestamp: DateTime('When it was written'), line: Type.String({ description: 'The entry as JSON text' }) },
  { title: 'SandboxLog' },
)
export type SandboxLog = Static<typeof SandboxLog>

/** A line of the log of a sandbox (control-plane.md 8.1). */
export const SandboxLogEntry = Type.Object(
  {
    timestamp: DateTime('When it was written'),
    message: Type.String(),
    level: LogLevel,
    fields: Type.Record(Type.String(), Type.String(), { description: 'The other members of the line, as texts' }),
  },
  { title: 'SandboxLogEntry' },
)
export type SandboxLogEntry = Static<typeof SandboxLogEntry>

/** Query of `GET /sandboxes/{sandboxID}/logs` (control-plane.md 8.1). */
export const SandboxLogsQuery = Type.Object({
  start: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_TIME_MS, description: 'Unix milliseconds, inclusive. Default: the oldest line that is kept' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      format: 'int32',
      minimum: 0,
      maximum: 2_147_483_647,
      default: MAX_SANDBOX_LOGS,
      description: `Maximum number of lines; more than ${MAX_SANDBOX_LOGS} count as ${MAX_SANDBOX_LOGS}`,
    }),
  ),
})
export type SandboxLogsQuery = Static<typeof SandboxLogsQuery>

export const SandboxLogs = Type.Object({ logs: Type.Array(SandboxLog), logEntries: Type.Array(SandboxLogEntry) }, { title: 'SandboxLogs' })
export type SandboxLogs = Static<typeof SandboxLogs>

/** Query of `GET /v2/sandboxes/{sandboxID}/logs` (control-plane.md 8.2). */
export const SandboxLogsV2Query = Type.Object({
  cursor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_TIME_MS,
      description: 'Unix milliseconds, inclusive. Default: now when backward, the oldest line that is kept when forward',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      format: 'int32',
      minimum: 0,
      maximum: MAX_SANDBOX_LOGS,
      default: MAX_SANDBOX_LOGS,
      description: 'Maximum number of lines',
    }),
  ),
  direction: Type.Optional(
    Type.Unsafe<'forward' | 'backward'>({ type: 'string', enum: ['forward', 'backward'], default: 'backward', title: 'LogsDirection' }),
  ),
  level: Type.Optional(Type.Unsafe<LogLevel>({ ...LogLevel, description: 'Least severe level to return; all when absent' })),
  search: Type.Optional(Type.String({ maxLength: MAX_SEARCH_LENGTH, description: 'Part of the message, case-sensitive' })),
})
export type SandboxLogsV2Query = Static<typeof SandboxLogsV2Query>

export const SandboxLogsV2 = Type.Object({ logs: Type.Array(SandboxLogEntry) }, { title: 'SandboxLogsV2Response' })
export type SandboxLogsV2 = Static<typeof SandboxLogsV2>
