import { useState } from 'preact/hooks'
import type { NewWebhook, Webhook } from '@sandyard/api-contract/webhooks/webhook'
import { wire } from '../../api/wire.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { curlOf } from '../../parts/wire-code.ts'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'
import { changeWebhook, newSecret } from './webhook-calls.ts'
import '../../styles/forms.css'

type Event = NewWebhook['events'][number]

const EVENTS = ['created', 'updated', 'paused', 'resumed', 'killed'].map((name) => `sandbox.lifecycle.${name}` as Event)

export interface WebhookDialogProps {
  /** Undefined: a new one. */
  readonly webhook: Webhook | undefined
  readonly onClose: () => void
  /** `secret` is that of a new one. */
  readonly onSaved: (name: string, secret: string) => void
}

export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const [name, setName] = useState(webhook?.name ?? '')
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? EVENTS)
  const fields = { name: name.trim(), url: url.trim(), events: events as Event[] }
  const code = {
    curl:
      webhook === undefined
        ? curlOf({ method: 'POST', path: '/events/webhooks', body: { ...fields, signatureSecret: '<secret>' } })
        : curlOf({ method: 'PATCH', path: `/events/webhooks/${webhook.id}`, body: fields }),
  }
  const submit = async (): Promise<string> => {
    if (webhook !== undefined) {
      await changeWebhook(webhook.id, fields)
      return ''
    }
    const signatureSecret = newSecret()
    await wire<Webhook>('POST', '/events/webhooks', { body: { ...fields, signatureSecret } })
    return signatureSecret
  }
  return (
    <FormDialog
      title={webhook === undefined ? texts.createTitle : texts.editTitle(webhook.name)}
      button={webhook === undefined ? texts.createButton : texts.editButton}
      code={fields.name === '' || fields.url === '' ? undefined : code}
      onClose={onClose}
      onSubmit={submit}
      onDone={(secret) => onSaved(name.trim(), secret)}
    >
      <FormField label={texts.name} value={name} onChange={setName} isRequired maxLength={128} />
      <FormField label={texts.url} value={url} onChange={setUrl} type="url" hint={texts.urlHint} isRequired maxLength={2048} />
      <fieldset class="webhook-events">
        <legend>{texts.events}</legend>
        {EVENTS.map((event) => (
          <label key={event} class="check">
            <input
              type="checkbox"
              checked={events.includes(event)}
              onChange={({ currentTarget: { checked } }) =>
                setEvents(checked ? [...events, event] : events.filter((other) => other !== event))
              }
            />
            {texts.eventNames[event]}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  )
}
