import { useState } from 'preact/hooks'
import type { KeyRow } from '@sandyard/dashboard-contract/credentials'
import { wire } from '../../api/wire.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { toast } from '../../parts/toasts.tsx'
import { shellWord } from '../../parts/wire-code.ts'
import { keysTexts as texts } from '../../texts/keys-texts.ts'

export interface RenameKeyDialogProps {
  readonly row: KeyRow
  readonly onClose: () => void
  readonly onRenamed: () => void
}

export function RenameKeyDialog({ row, onClose, onRenamed }: RenameKeyDialogProps) {
  const [name, setName] = useState(row.name)
  const submit = async (): Promise<void> => {
    await wire('PATCH', `/api-keys/${row.keyId}`, { body: { name: name.trim() } })
    toast('done', texts.renamed)
    onRenamed()
  }
  return (
    <FormDialog
      title={texts.renameTitle(row.name)}
      button={texts.rename}
      code={{ cli: `sandyard keys rename ${row.keyId} ${shellWord(name)}` }}
      onClose={onClose}
      onSubmit={submit}
    >
      <FormField label={texts.name} value={name} onChange={setName} isRequired maxLength={128} />
    </FormDialog>
  )
}
