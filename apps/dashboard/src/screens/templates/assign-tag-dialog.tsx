import { useId, useState } from 'preact/hooks'
import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { timeText } from '../../parts/time-text.ts'
import { toast } from '../../parts/toasts.tsx'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { assignCode, assignTag, nameOf } from './template-calls.ts'
import '../../styles/forms.css'

export interface AssignTagDialogProps {
  readonly template: TemplateRow
  /** Absent: a new one is asked for. */
  readonly tag: string | undefined
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Points a tag to one of the ready builds. */
export function AssignTagDialog({ template, tag: given, onClose, onChanged }: AssignTagDialogProps) {
  const { templateId } = template
  const name = nameOf(template)
  const [tag, setTag] = useState(given ?? '')
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const id = useId()
  const { value, failure, reload } = useCall(templateId, (signal) =>
    call('GET /builds', { query: { template: templateId, status: 'ready', limit: 100 }, signal }),
  )
  const buildId = chosen ?? value?.data[0]?.buildId ?? ''
  const submit = async (): Promise<void> => {
    await assignTag(name, tag, buildId)
    toast('done', texts.movedTo(tag, buildId.slice(0, 8)))
    onChanged()
  }
  return (
    <FormDialog
      title={given === undefined ? texts.assignTitle : texts.moveTitle(given)}
      button={given === undefined ? texts.assignButton : texts.moveButton}
      code={tag === '' ? undefined : assignCode(name, tag, buildId)}
      onClose={onClose}
      onSubmit={submit}
    >
      {given === undefined && (
        <FormField label={texts.tagName} value={tag} onChange={setTag} hint={texts.tagHint} isRequired maxLength={128} />
      )}
      <LoadedPart value={value} failure={failure} reload={reload}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{texts.noReadyBuild}</p>
          ) : (
            <div class="field">
              <label for={id}>{texts.build}</label>
              <select id={id} class="input" required value={buildId} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
                {data.map((build) => (
                  <option key={build.buildId} value={build.buildId} selected={build.buildId === buildId}>
                    {build.buildId.slice(0, 8)} · {timeText(build.createdAt)}
                    {build.tags.length > 0 && ` · ${build.tags.join(', ')}`}
                  </option>
                ))}
              </select>
              <p class="hint">{texts.readyBuilds}</p>
            </div>
          )
        }
      </LoadedPart>
    </FormDialog>
  )
}
