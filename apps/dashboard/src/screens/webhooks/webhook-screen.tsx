import { useLocation, useRoute } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import type { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { useCall } from '../../api/use-call.ts'
import { wire } from '../../api/wire.ts'
import { paths } from '../../frame/paths.ts'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import { toast } from '../../parts/toasts.tsx'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'
import { DeliveryChart } from './delivery-chart.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { readStats } from './webhook-calls.ts'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookState } from './webhook-state.tsx'
import '../../styles/webhooks.css'
import '../../styles/details.css'

export function WebhookScreen() {
  const { webhookId = '' } = useRoute().params
  const { route } = useLocation()
  const [isChanging, setChanging] = useState(false)
  const { value, failure, reload } = useCall(
    webhookId,
    async (signal) => (await wire<Webhook>('GET', `/events/webhooks/${webhookId}`, { signal })).data,
  )
  const stats = useCall(webhookId, (signal) => readStats(webhookId, signal))
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{value?.name ?? texts.webhook}</h1>
        {value !== undefined && (
          <>
            <WebhookState webhook={value} />
            <div class="actions">
              <button type="button" class="button" onClick={() => setChanging(true)}>
                {texts.edit}
              </button>
              <WebhookActions webhook={value} onChanged={reload} onDeleted={() => route(paths.webhooks)} />
            </div>
          </>
        )}
      </div>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {(webhook) => (
          <div class="columns">
            <Panel title={texts.facts}>
              <dl class="facts">
                <dt>{texts.url}</dt>
                <dd>
                  <code>{webhook.url}</code>
                </dd>
                <dt>{texts.events}</dt>
                <dd>{webhook.events.map((event) => texts.eventNames[event] ?? event).join(', ')}</dd>
                <dt>{texts.id}</dt>
                <dd class="mono">{webhook.id}</dd>
                <dt>{texts.created}</dt>
                <dd>
                  <Time at={webhook.createdAt} />
                </dd>
              </dl>
            </Panel>
            <Panel title={texts.lastDay}>
              <LoadedPart value={stats.value} failure={stats.failure} reload={stats.reload}>
                {(read) => <DeliveryChart stats={read} />}
              </LoadedPart>
            </Panel>
          </div>
        )}
      </LoadedPart>
      {value !== undefined && <Deliveries webhookId={webhookId} />}
      {value !== undefined && isChanging && (
        <WebhookDialog
          webhook={value}
          onClose={() => setChanging(false)}
          onSaved={() => {
            setChanging(false)
            toast('done', texts.saved)
            reload()
          }}
        />
      )}
    </div>
  )
}
