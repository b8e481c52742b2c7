import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const MONTH_MS = 30 * DAY_MS

/** How long unused data is kept. */
export const RETENTION_SETTINGS = {
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

export interface RetentionConfig {
  readonly auditMs: number
  readonly eventMs: number
  readonly historyMs: number
  readonly sandboxLogMs: number
  /** After the end of the sandbox. */
  readonly sandboxMetricMs: number
  readonly teamMetricMs: number
  readonly buildLogMs: number
  readonly buildMs: number
}

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkRetention(settings: ConfigOf<typeof RETENTION_SETTINGS>, problems: string[]): RetentionConfig {
  for (const [key, setting] of Object.entries(RETENTION_SETTINGS)) {
    if (settings[key as keyof typeof settings] < HOUR_MS) problems.push(`${setting.env} must be at least 1h`)
  }
  return {
    auditMs: settings.auditRetention,
    eventMs: settings.eventRetention,
    historyMs: settings.historyRetention,
    sandboxLogMs: settings.sandboxLogRetention,
    sandboxMetricMs: settings.sandboxMetricRetention,
    teamMetricMs: settings.teamMetricRetention,
    buildLogMs: settings.buildLogRetention,
    buildMs: settings.buildRetention,
  }
}
