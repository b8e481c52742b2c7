import { useState } from 'preact/hooks'
import { wire } from '../../api/wire.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { toast } from '../../parts/toasts.tsx'
import { curlOf } from '../../parts/wire-code.ts'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'

export function NewTeamDialog({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: () => void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [slug, setSlug] = useState('')
  const body = { name: name.trim(), email: email.trim(), ...(slug !== '' && { slug }) }
  const submit = async (): Promise<void> => {
    await wire('POST', '/admin/teams', { body })
    toast('done', texts.created)
    onCreated()
  }
  return (
    <FormDialog
      title={texts.createTitle}
      button={texts.createButton}
      code={name === '' ? undefined : { curl: curlOf({ method: 'POST', path: '/admin/teams', body, by: 'admin' }) }}
      onClose={onClose}
      onSubmit={submit}
    >
      <FormField label={texts.name} value={name} onChange={setName} isRequired maxLength={128} />
      <FormField label={texts.email} value={email} onChange={setEmail} type="email" isRequired maxLength={254} />
      <FormField label={texts.slug} value={slug} onChange={setSlug} hint={texts.slugHint} pattern="[a-z0-9\-]+" maxLength={128} />
    </FormDialog>
  )
}
