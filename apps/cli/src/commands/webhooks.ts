import type { Command } from 'commander'
import type { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { MOST_ATTEMPTS } from '@sandyard/api-contract/webhooks/most-attempts'
import type { WebhookDelivery } from '@sandyard/api-contract/webhooks/webhook-delivery'
import type { ApiClient } from '../api-client.ts'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { agoText } from '../time-text.ts'

interface Page {
  readonly data: readonly WebhookDelivery[]
  readonly nextCursor: string | null
}

const PAGE_SIZE = 100
const MAX_PAGES = 1000

/** The webhooks of the team of the key (docs/webhooks.md). */
export function registerWebhooks(program: Command, parts: CliParts): void {
  const webhooks = program.command('webhooks').description('list webhooks and the deliveries that were given up, and send them again')
  webhooks
    .command('list')
    .alias('ls')
    .description('list the webhooks of the team')
    .action(() => list(parts))
  webhooks
    .command('dead')
    .argument('<id>', 'id of a webhook')
    .description('list the deliveries that were given up, newest first')
    .action((id: string) => listDead(parts, id))
  webhooks
    .command('resend')
    .argument('<id>', 'id of a webhook')
    .argument('[deliveries...]', 'ids of deliveries')
    .option('--dead', 'all that were given up')
    .description('send deliveries again')
    .action((id: string, deliveries: string[], { dead }: { dead?: boolean }, command: Command) => {
      if ((dead === true) === deliveries.length > 0) command.error('error: name the deliveries, or select them with --dead')
      return resend(parts, id, deliveries)
    })
}

async function list({ api, output }: CliParts): Promise<void> {
  const found = await api.call<Webhook[]>('listWebhooks')
  output.result(found, () => {
    const toRow = ({ id, name, url, enabled, disabledReason, createdAt }: Webhook) => {
      return [id, name, enabled ? 'enabled' : 'disabled', url, agoText(createdAt), disabledReason ?? '']
    }
    output.table(['ID', 'NAME', 'STATE', 'URL', 'CREATED', 'REASON'], found.map(toRow))
    if (found.length === 0) output.say('There are no webhooks.')
  })
}

async function listDead({ api, output }: CliParts, webhookID: string): Promise<void> {
  const found = await deadDeliveries(api, webhookID)
  output.result(found, () => {
    const toRow = ({ deliveryId, eventType, createdAt, attempts }: WebhookDelivery) => {
      const last = attempts.at(-1)
      return [deliveryId, eventType, agoText(createdAt), attempts.length, last?.httpStatus ?? last?.errorClass ?? 'none']
    }
    output.table(['DELIVERY', 'EVENT', 'HAPPENED', 'ATTEMPTS', 'LAST ANSWER'], found.map(toRow))
    if (found.length === 0) output.say('No delivery was given up.')
  })
}

async function resend({ api, output }: CliParts, webhookID: string, named: readonly string[]): Promise<void> {
  const dead = named.length > 0 ? [] : await deadDeliveries(api, webhookID)
  const sendable = dead.filter(({ attempts }) => (attempts.at(-1)?.number ?? 0) < MOST_ATTEMPTS)
  const ids = named.length > 0 ? named : sendable.map(({ deliveryId }) => deliveryId)
  for (const deliveryID of ids) await api.call('resendWebhookDelivery', { path: { webhookID, deliveryID } })
  output.result(ids, () => {
    for (const id of ids) output.line(id)
  })
  output.say(ids.length + dead.length === 0 ? 'No delivery was given up.' : `The server sends ${ids.length} again.`)
  const left = dead.length - sendable.length
  if (left > 0) output.say(`${left} had ${MOST_ATTEMPTS} attempts or more: they are not sent again.`)
}

async function deadDeliveries(api: ApiClient, webhookID: string): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = { limit: PAGE_SIZE, cursor }
    const { data, nextCursor } = await api.call<Page>('listDeadWebhookDeliveries', { path: { webhookID }, query })
    found.push(...data)
    if (nextCursor === null) return found
    cursor = nextCursor
  }
  throw new CliFailure(EXIT.failed, `The list has more than ${MAX_PAGES} pages.`)
}
