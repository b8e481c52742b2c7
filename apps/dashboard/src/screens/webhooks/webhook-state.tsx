import type { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'

export function WebhookState({ webhook: { enabled, disabledReason } }: { readonly webhook: Webhook }) {
  return (
    <span class="row">
      <span class={`badge ${enabled ? 'badge-good' : 'badge-warn'}`}>{enabled ? texts.enabled : texts.disabled}</span>
      {disabledReason !== undefined && <span class="muted small">{disabledReason}</span>}
    </span>
  )
}
