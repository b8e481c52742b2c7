import { useState } from 'preact/hooks'
import type { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { useCall } from '../../api/use-call.ts'
import { wire } from '../../api/wire.ts'
import { paths } from '../../frame/paths.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'
import { SecretDialog } from './secret-dialog.tsx'
import { countAttempts, readStats } from './webhook-calls.ts'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { WebhookState } from './webhook-state.tsx'
import '../../styles/webhooks.css'

type Open = { readonly kind: 'new' } | { readonly kind: 'secret'; readonly name: string; readonly secret: string }

export function WebhooksScreen() {
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const { value, failure, reload } = useCall('', async (signal) => (await wire<Webhook[]>('GET', '/events/webhooks', { signal })).data)
  const close = (): void => setOpen(undefined)
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <button type="button" class="button button-primary" onClick={() => setOpen({ kind: 'new' })}>
            {texts.create}
          </button>
        </div>
      </div>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {(rows) => <DataTable caption={texts.caption} rows={rows} rowKey={({ id }) => id} empty={texts.empty} columns={columns(reload)} />}
      </LoadedPart>
      {open?.kind === 'new' && (
        <WebhookDialog
          webhook={undefined}
          onClose={close}
          onSaved={(name, secret) => {
            setOpen({ kind: 'secret', name, secret })
            reload()
          }}
        />
      )}
      {open?.kind === 'secret' && <SecretDialog name={open.name} secret={open.secret} onClose={close} />}
    </div>
  )
}

function columns(reload: () => void): readonly Column<Webhook>[] {
  return [
    { id: 'name', title: texts.columns.name, cell: ({ id, name }) => <a href={paths.webhook(id)}>{name}</a> },
    { id: 'url', title: texts.columns.url, cell: ({ url }) => <code class="webhook-url">{url}</code> },
    {
      id: 'events',
      title: texts.columns.events,
      cell: ({ events }) => <span class="small">{events.map((event) => texts.eventNames[event] ?? event).join(', ')}</span>,
    },
    { id: 'state', title: texts.columns.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
    { id: 'success', title: texts.columns.success, isNumber: true, cell: ({ id }) => <SuccessRate key={id} webhookId={id} /> },
    { id: 'actions', title: texts.columns.actions, cell: (webhook) => <WebhookActions webhook={webhook} onChanged={reload} isSmall /> },
  ]
}

function SuccessRate({ webhookId }: { readonly webhookId: string }) {
  const { value } = useCall(webhookId, (signal) => readStats(webhookId, signal))
  if (value === undefined) return <span>–</span>
  const { total, failed } = countAttempts(value)
  return <span class={failed > 0 ? 'webhook-failed' : undefined}>{total === 0 ? texts.none : texts.rate(total, failed)}</span>
}
