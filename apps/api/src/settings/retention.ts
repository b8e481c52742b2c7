import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const MONTH_MS = 30 * DAY_MS
const MIB = 1024 ** 2

/** How long unused data is kept. */
const AGES = {
  auditRetention: env.duration('SANDYARD_AUDIT_RETENTION', {
    default: 90 * DAY_MS,
    doc: 'How long the records of who asked for changes are kept; at least 1h.',
  }),
  eventRetention: env.duration('SANDYARD_EVENT_RETENTION', { default: MONTH_MS, doc: 'How long events are kept; at least 1h.' }),
  historyRetention: env.duration('SANDYARD_HISTORY_RETENTION', {
    default: MONTH_MS,
    doc: 'How long the history of a sandbox is kept after its end; at least 1h.',
  }),
  sandboxLogRetention: env.duration('SANDYARD_SANDBOX_LOG_RETENTION', {
    default: WEEK_MS,
    doc: 'How long the lines of the log of a sandbox are kept; at least 1h.',
  }),
  sandboxMetricRetention: env.duration('SANDYARD_SANDBOX_METRIC_RETENTION', {
    default: WEEK_MS,
    doc: 'How long the metrics of a sandbox are kept after its end; at least 1h.',
  }),
  teamMetricRetention: env.duration('SANDYARD_TEAM_METRIC_RETENTION', {
    default: MONTH_MS,
    doc: 'How long the metrics of a team are kept; at least 1h.',
  }),
  buildLogRetention: env.duration('SANDYARD_BUILD_LOG_RETENTION', {
    default: MONTH_MS,
    doc: 'How long the log of a build is kept after its end; at least 1h.',
  }),
  buildRetention: env.duration('SANDYARD_BUILD_RETENTION', {
    default: MONTH_MS,
    doc: 'How long an unused build and its image are kept (no tag, no sandbox created from it), and the rows of deleted templates; at least 1h.',
  }),
} satisfies ConfigSchema

export const RETENTION_SETTINGS = {
  ...AGES,
  teamLogSize: env.size('SANDYARD_TEAM_LOG_SIZE', {
    default: 1024 * MIB,
    doc: 'What the log lines of all sandboxes of a team may take together, with 256 bytes for each line; older lines are deleted. 16MiB to 10GiB.',
  }),
} satisfies ConfigSchema

/** What the newest lines of one sandbox may take alone, and what can be counted in one statement. */
const TEAM_LOG_BYTES = { least: 16 * MIB, most: 10_240 * MIB } as const

export interface RetentionConfig {
  readonly auditMs: number
  readonly eventMs: number
  readonly historyMs: number
  readonly sandboxLogMs: number
  /** What the log lines of all sandboxes of a team may take. */
  readonly teamLogBytes: number
  /** After the end of the sandbox. */
  readonly sandboxMetricMs: number
  readonly teamMetricMs: number
  readonly buildLogMs: number
  readonly buildMs: number
}

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkRetention(settings: ConfigOf<typeof RETENTION_SETTINGS>, problems: string[]): RetentionConfig {
  for (const [key, setting] of Object.entries(AGES)) {
    if (settings[key as keyof typeof AGES] < HOUR_MS) problems.push(`${setting.env} must be at least 1h`)
  }
  if (settings.teamLogSize < TEAM_LOG_BYTES.least || settings.teamLogSize > TEAM_LOG_BYTES.most) {
    problems.push('SANDYARD_TEAM_LOG_SIZE must be between 16MiB and 10GiB')
  }
  return {
    auditMs: settings.auditRetention,
    eventMs: settings.eventRetention,
    historyMs: settings.historyRetention,
    sandboxLogMs: settings.sandboxLogRetention,
    teamLogBytes: settings.teamLogSize,
    sandboxMetricMs: settings.sandboxMetricRetention,
    teamMetricMs: settings.teamMetricRetention,
    buildLogMs: settings.buildLogRetention,
    buildMs: settings.buildRetention,
  }
}
