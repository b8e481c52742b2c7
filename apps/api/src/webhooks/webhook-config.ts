import { env, readList, SettingProblem, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'
import { parseDurationMs } from '@sandyard/kit/config/units'
import { isAddressOrNetwork } from '@sandyard/kit/net/addresses'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const MAX_RETRIES = 20

/** The settings of webhooks. */
export const WEBHOOK_SETTINGS = {
  webhookRetries: env.checked('SANDYARD_WEBHOOK_RETRIES', readRetries, {
    kind: 'text',
    default: [10 * SECOND_MS, 60 * SECOND_MS, 300 * SECOND_MS, HOUR_MS / 2, 2 * HOUR_MS],
    written: '10s,60s,5m,30m,2h',
    doc: 'pauses before the repeats of a delivery to a webhook, comma-separated. After the last one it is given up',
  }),
  webhookAllowPrivate: env.checked('SANDYARD_WEBHOOK_ALLOW_PRIVATE', readNetworks, {
    kind: 'text',
    default: [],
    doc: 'private addresses and networks, this host among them, that webhooks may be sent to, comma-separated; none by default',
  }),
  webhookDeny: env.checked('SANDYARD_WEBHOOK_DENY', readNetworks, {
    kind: 'text',
    default: [],
    doc: 'addresses and networks that webhooks are never sent to, comma-separated, such as a public address of this installation in front of a router',
  }),
  webhookRetention: env.duration('SANDYARD_WEBHOOK_RETENTION', {
    default: WEEK_MS,
    doc: 'How long the deliveries of webhooks are kept, counted from their events; at least 1h.',
  }),
} satisfies ConfigSchema

export interface WebhookConfig {
  /** The pauses before the repeats of a delivery, in milliseconds. */
  readonly retriesMs: readonly number[]
  /** Addresses and networks that are not public and may be sent to. */
  readonly allowPrivate: readonly string[]
  /** Addresses and networks that are never sent to. */
  readonly deny: readonly string[]
  readonly retentionMs: number
}

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkWebhookSettings(settings: ConfigOf<typeof WEBHOOK_SETTINGS>, problems: string[]): WebhookConfig {
  const { webhookRetries, webhookAllowPrivate, webhookDeny, webhookRetention } = settings
  if (webhookRetention < HOUR_MS) problems.push('SANDYARD_WEBHOOK_RETENTION must be at least 1h')
  return { retriesMs: webhookRetries, allowPrivate: webhookAllowPrivate, deny: webhookDeny, retentionMs: webhookRetention }
}

function readRetries(text: string): readonly number[] {
  const pauses = readList(text).map((part) => parseDurationMs(part))
  const isRight = (pause: number | undefined): pause is number => pause !== undefined && pause > 0 && pause <= DAY_MS
  if (pauses.length > MAX_RETRIES || !pauses.every(isRight)) {
    throw new SettingProblem(`must be at most ${MAX_RETRIES} durations of up to 24h, separated by commas`)
  }
  return pauses
}

function readNetworks(text: string): readonly string[] {
  const networks = readList(text)
  const wrong = networks.find((network) => !isAddressOrNetwork(network))
  if (wrong !== undefined) throw new SettingProblem(`has "${wrong}", which is not an address or a network`)
  return networks
}
