import { useId, useState } from 'preact/hooks'
import type { CreatedTeamApiKey, KeyScope, NewTeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { wire } from '../../api/wire.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { shellWord } from '../../parts/wire-code.ts'
import { keysTexts as texts } from '../../texts/keys-texts.ts'
import '../../styles/forms.css'

export interface NewKeyDialogProps {
  readonly onClose: () => void
  readonly onCreated: (created: CreatedTeamApiKey) => void
}

export function NewKeyDialog({ onClose, onCreated }: NewKeyDialogProps) {
  const [name, setName] = useState('')
  const [scope, setScope] = useState('')
  const [expires, setExpires] = useState('')
  const scopeId = useId()
  const submit = async (): Promise<CreatedTeamApiKey> => {
    const body: NewTeamApiKey = {
      name: name.trim(),
      ...(scope !== '' && { scope: scope as KeyScope }),
      ...(expires !== '' && { expiresAt: new Date(expires).toISOString() }),
    }
    const { data } = await wire<CreatedTeamApiKey>('POST', '/api-keys', { body })
    return data
  }
  return (
    <FormDialog
      title={texts.createTitle}
      button={texts.createButton}
      code={name === '' ? undefined : { cli: `sandyard keys create ${shellWord(name)}${scope === '' ? '' : ` --scope ${scope}`}` }}
      onClose={onClose}
      onSubmit={submit}
      onDone={onCreated}
    >
      <FormField label={texts.name} value={name} onChange={setName} hint={texts.nameHint} isRequired maxLength={128} />
      <div class="field">
        <label for={scopeId}>{texts.scope}</label>
        <select id={scopeId} class="input" value={scope} onChange={({ currentTarget }) => setScope(currentTarget.value)}>
          {Object.entries(texts.scopes).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <FormField label={texts.expires} value={expires} onChange={setExpires} type="datetime-local" hint={texts.expiresHint} />
    </FormDialog>
  )
}
