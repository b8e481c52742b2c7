import { useState } from 'preact/hooks'
import type { SecretInfo } from '@sandyard/api-contract/secrets/secret'
import { wire } from '../../api/wire.ts'
import type { ActionCode } from '../../parts/action-code.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { toast } from '../../parts/toasts.tsx'
import { curlOf } from '../../parts/wire-code.ts'
import { secretsTexts as texts } from '../../texts/secrets-texts.ts'

export interface SecretDialogProps {
  /** Undefined: a new one; else a new version of it. */
  readonly secret: SecretInfo | undefined
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** With a place for the value, which is in no command. */
function codeOf(secret: SecretInfo | undefined, name: string): ActionCode {
  const body = { ...(secret === undefined && { name }), value: '<value>' }
  return { curl: curlOf({ method: 'POST', path: secret === undefined ? '/secrets' : `/secrets/${secret.secretID}`, body }) }
}

export function SecretDialog({ secret, onClose, onSaved }: SecretDialogProps) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const submit = async (): Promise<void> => {
    if (secret === undefined) await wire('POST', '/secrets', { body: { name: name.trim(), value } })
    else await wire('POST', `/secrets/${secret.secretID}`, { body: { value } })
    toast('done', secret === undefined ? texts.created : texts.replaced)
    onSaved()
  }
  return (
    <FormDialog
      title={secret === undefined ? texts.createTitle : texts.replaceTitle(secret.name)}
      button={secret === undefined ? texts.createButton : texts.replaceButton}
      code={secret === undefined && name === '' ? undefined : codeOf(secret, name.trim())}
      onClose={onClose}
      onSubmit={submit}
    >
      {secret === undefined && (
        <FormField
          label={texts.name}
          value={name}
          onChange={setName}
          hint={texts.nameHint}
          isRequired
          maxLength={128}
          pattern="[a-zA-Z0-9_\-]{1,128}"
        />
      )}
      <FormField
        label={texts.value}
        value={value}
        onChange={setValue}
        hint={texts.valueHint}
        type="password"
        isRequired
        maxLength={65_536}
      />
    </FormDialog>
  )
}
