import type { Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { curlOf } from '../../parts/wire-code.ts'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'
import { changeWebhook } from './webhook-calls.ts'

export interface WebhookActionsProps {
  readonly webhook: Webhook
  readonly onChanged: () => void
  /** Default: as `onChanged`. */
  readonly onDeleted?: () => void
  readonly isSmall?: boolean
}

export function WebhookActions({ webhook: { id, name, enabled }, onChanged, onDeleted = onChanged, isSmall = false }: WebhookActionsProps) {
  const path = `/events/webhooks/${id}` as const
  return (
    <span class="row nowrap">
      <ActionButton
        isSmall={isSmall}
        isRepeatable
        done={enabled ? texts.disabledNow : texts.enabledNow}
        confirm={enabled ? { title: texts.disableTitle(name), text: texts.disableText, button: texts.disable } : undefined}
        code={{ curl: curlOf({ method: 'PATCH', path, body: { enabled: !enabled } }) }}
        run={() => changeWebhook(id, { enabled: !enabled }).then(onChanged)}
      >
        {enabled ? texts.disable : texts.enable}
      </ActionButton>
      <ActionButton
        isSmall={isSmall}
        kind="danger"
        done={texts.deleted}
        confirm={{ title: texts.deleteTitle(name), text: texts.deleteText, button: texts.delete }}
        code={{ curl: curlOf({ method: 'DELETE', path }) }}
        run={() => wire('DELETE', path).then(onDeleted)}
      >
        {texts.delete}
      </ActionButton>
    </span>
  )
}
