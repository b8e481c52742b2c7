import type { WebhookUpdate } from '@sandyard/api-contract/webhooks/webhook'
import { isStorable } from '../text/is-storable.ts'
import { checkUrl, type TargetParts } from './check-url.ts'
import { invalidWebhook } from './webhook-errors.ts'
import type { WebhookFields } from './webhook-queries.ts'

/**
 * The known fields of a body, with the URL in its normal form.
 *
 * @throws AppError `invalid_argument`
 */
export async function checkFields(body: WebhookUpdate, targets: TargetParts): Promise<Partial<WebhookFields>> {
  const { name, url, events, signatureSecret, enabled } = body
  if (!isStorable([name, url, signatureSecret])) throw invalidWebhook('texts must not contain NUL or unpaired surrogates')
  const checked = url === undefined ? undefined : await checkUrl(url, targets)
  return {
    ...(name !== undefined && { name }),
    ...(checked !== undefined && { url: checked }),
    ...(events !== undefined && { events }),
    ...(signatureSecret !== undefined && { signatureSecret }),
    ...(enabled !== undefined && { enabled }),
  }
}
