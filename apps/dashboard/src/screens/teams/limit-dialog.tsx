import { useState } from 'preact/hooks'
import type { LimitUse } from '@sandyard/dashboard-contract/teams'
import { wire } from '../../api/wire.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { toast } from '../../parts/toasts.tsx'
import { curlOf } from '../../parts/wire-code.ts'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'
import { limitName } from './limit-text.ts'

export interface LimitDialogProps {
  readonly teamId: string
  readonly limit: LimitUse
  readonly onClose: () => void
  readonly onChanged: () => void
}

export function LimitDialog({ teamId, limit, onClose, onChanged }: LimitDialogProps) {
  const [value, setValue] = useState(limit.isOwn && limit.limit !== null ? String(limit.limit) : '')
  const unit = texts.units[limit.unit]
  const path = `/admin/teams/${teamId}` as const
  const body = { limits: { [limit.name]: value === '' ? null : Number(value) } }
  const submit = async (): Promise<void> => {
    await wire('PATCH', path, { body })
    toast('done', texts.changed)
    onChanged()
  }
  return (
    <FormDialog
      title={texts.changeTitle(limitName(limit))}
      button={texts.changeButton}
      code={{ curl: curlOf({ method: 'PATCH', path, body, by: 'admin' }) }}
      onClose={onClose}
      onSubmit={submit}
    >
      <FormField
        label={unit === '' ? limitName(limit) : `${limitName(limit)}, ${unit}`}
        value={value}
        onChange={setValue}
        type="number"
        hint={texts.changeHint}
      />
    </FormDialog>
  )
}
