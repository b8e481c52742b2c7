import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import type { Db, Tx } from '@sandyard/db/database'
import type { WebhookTable } from '@sandyard/db/schema/webhook'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import type { LockedTeam } from '../teams/team-transaction.ts'
import { cancelDeliveries } from './cancel-deliveries.ts'
import { webhookNotFound } from './webhook-errors.ts'
import { sealSecret } from './webhook-secret.ts'
import { ensureReader } from './read-outbox.ts'

const MAX_WEBHOOKS = 100

const COLUMNS = ['webhook_id', 'team_id', 'name', 'url', 'events', 'enabled', 'disabled_reason', 'created_at'] as const

export type WebhookRow = Pick<Selectable<WebhookTable>, (typeof COLUMNS)[number]>

export interface WebhookFields {
  readonly name: string
  /** Checked. */
  readonly url: string
  readonly events: readonly string[]
  readonly signatureSecret: string
  readonly enabled: boolean
}

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.webhook_id,
    teamId: row.team_id,
    name: row.name,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    createdAt: row.created_at.toISOString(),
  }
}

/** Oldest first: at most 100. */
export async function listWebhooks(db: Db, teamId: string): Promise<WebhookRow[]> {
  const rows = db.selectFrom('webhook').select(COLUMNS).where('team_id', '=', teamId)
  return rows.orderBy('created_at').orderBy('webhook_id').limit(MAX_WEBHOOKS).execute()
}

/** @throws AppError `not_found`, also for a webhook of another team and for text that is no id */
export async function getWebhook(db: Db, teamId: string, webhookId: string): Promise<WebhookRow> {
  const row = isUuid(webhookId) ? await ofTeam(db, teamId, webhookId).executeTakeFirst() : undefined
  if (row === undefined) throw webhookNotFound(webhookId)
  return row
}

function ofTeam(db: Db, teamId: string, webhookId: string) {
  return db.selectFrom('webhook').select(COLUMNS).where('webhook_id', '=', webhookId).where('team_id', '=', teamId)
}

/** @throws AppError `resource_exhausted` at the limit of the team */
export async function createWebhook({ tx, id: teamId }: LockedTeam, keyRing: KeyRing, fields: WebhookFields): Promise<WebhookRow> {
  const { count } = await tx
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_WEBHOOKS) throw new AppError('resource_exhausted', `A team can have at most ${MAX_WEBHOOKS} webhooks`)
  await ensureReader(tx)
  const { signatureSecret, events, ...rest } = fields
  const webhookId = randomUUID()
  return tx
    .insertInto('webhook')
    .values({ ...rest, webhook_id: webhookId, team_id: teamId, events: [...events], ...sealSecret(keyRing, webhookId, signatureSecret) })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/**
 * Changes the given fields. A webhook that is disabled sends nothing more; one that is enabled begins with the events that follow.
 *
 * @throws AppError `not_found`
 */
export async function updateWebhook(
  tx: Tx,
  keyRing: KeyRing,
  { teamId, webhookId, changes }: { teamId: string; webhookId: string; changes: Partial<WebhookFields> },
): Promise<WebhookRow> {
  await getWebhook(tx, teamId, webhookId)
  const { signatureSecret, events, enabled, ...rest } = changes
  const values = {
    ...rest,
    ...(events !== undefined && { events: [...events] }),
    ...(enabled !== undefined && { enabled, disabled_reason: null, dead_in_row: 0 }),
    ...(signatureSecret !== undefined && sealSecret(keyRing, webhookId.toLowerCase(), signatureSecret)),
  }
  if (Object.keys(values).length > 0) {
    const { numUpdatedRows } = await tx.updateTable('webhook').set(values).where('webhook_id', '=', webhookId).executeTakeFirst()
    if (numUpdatedRows === 0n) throw webhookNotFound(webhookId)
  }
  if (enabled === false) await cancelDeliveries(tx, webhookId)
  return getWebhook(tx, teamId, webhookId)
}

/** @throws AppError `not_found` */
export async function deleteWebhook(db: Db, teamId: string, webhookId: string): Promise<WebhookRow> {
  const { webhook_id } = await getWebhook(db, teamId, webhookId)
  const row = await db.deleteFrom('webhook').where('webhook_id', '=', webhook_id).returning(COLUMNS).executeTakeFirst()
  if (row === undefined) throw webhookNotFound(webhookId)
  return row
}
