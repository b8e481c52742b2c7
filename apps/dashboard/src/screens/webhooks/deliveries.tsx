import type { DeliveryStatus, WebhookDelivery } from '@sandyard/api-contract/webhooks/webhook-delivery'
import type { Page } from '@sandyard/dashboard-contract/api-shape'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { Panel } from '../../parts/panel.tsx'
import { SelectBox } from '../../parts/select-box.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { curlOf } from '../../parts/wire-code.ts'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'

const KINDS = { pending: 'badge-accent', delivered: 'badge-good', dead: 'badge-bad' } satisfies Record<DeliveryStatus, string>

export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const [{ status = '' }, change] = useUrlQuery()
  const pages = usePages<WebhookDelivery>(`${webhookId} ${status}`, async (cursor, signal) => {
    const query = { cursor, ...(status !== '' && { deliveryStatus: status }) }
    return (await wire<Page<WebhookDelivery>>('GET', `/events/webhooks/${webhookId}/deliveries`, { query, signal })).data
  })
  const statuses = Object.entries<string>(texts.statuses)
  return (
    <Panel
      title={texts.deliveries}
      isFlush
      actions={
        <SelectBox
          label={texts.columns.status}
          value={status}
          options={[['', texts.allStatuses], ...statuses]}
          onSelect={(value) => change({ status: value })}
        />
      }
    >
      <PagedTable
        pages={pages}
        caption={texts.deliveries}
        rowKey={({ deliveryId }) => deliveryId}
        empty={texts.deliveriesEmpty}
        columns={[
          {
            id: 'status',
            title: texts.columns.status,
            cell: ({ status: state }) => <span class={`badge ${KINDS[state]}`}>{texts.statuses[state]}</span>,
          },
          { id: 'event', title: texts.columns.event, cell: ({ eventType }) => texts.eventNames[eventType] ?? eventType },
          { id: 'at', title: texts.columns.at, cell: ({ createdAt }) => <Time at={createdAt} /> },
          { id: 'attempts', title: texts.columns.attempts, cell: (delivery) => <Attempts delivery={delivery} /> },
          { id: 'answer', title: texts.columns.answer, cell: ({ attempts }) => answerText(attempts.at(-1)) },
          {
            id: 'actions',
            title: texts.columns.actions,
            cell: ({ deliveryId, status: state }) =>
              state !== 'pending' && (
                <ActionButton
                  isSmall
                  done={texts.resent}
                  code={{ curl: curlOf({ method: 'POST', path: `/events/webhooks/${webhookId}/deliveries/${deliveryId}/resend` }) }}
                  run={() => wire('POST', `/events/webhooks/${webhookId}/deliveries/${deliveryId}/resend`).then(pages.reload)}
                >
                  {texts.resend}
                </ActionButton>
              ),
          },
        ]}
      />
    </Panel>
  )
}

type Attempt = WebhookDelivery['attempts'][number]

function answerText(attempt: Attempt | undefined): string {
  if (attempt === undefined) return '–'
  return attempt.httpStatus === null ? (attempt.errorClass ?? '–') : String(attempt.httpStatus)
}

function Attempts({ delivery: { attempts, eventType } }: { readonly delivery: WebhookDelivery }) {
  if (attempts.length === 0) return <span>0</span>
  return (
    <details>
      <summary>
        {attempts.length} <span class="off-screen">{texts.attemptsOf(eventType)}</span>
      </summary>
      <ol class="small">
        {attempts.map((attempt) => (
          <li key={attempt.number}>
            <Time at={attempt.timestamp} />: {texts.attempt(attempt.number, attempt.durationMs)}, {answerText(attempt)}
          </li>
        ))}
      </ol>
    </details>
  )
}
