import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { ActionButton } from '../../parts/action-button.tsx'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { deleteCode, deleteTemplate, nameOf, publishCode, setPublic } from './template-calls.ts'

export interface TemplateActionsProps {
  readonly template: TemplateRow
  /** The visibility has changed. */
  readonly onDone: () => void
  /** The template is gone. Default: as `onDone`. */
  readonly onDeleted?: () => void
  readonly isSmall?: boolean
}

export function TemplateActions({ template, onDone, onDeleted = onDone, isSmall = false }: TemplateActionsProps) {
  const { templateId, isPublic } = template
  const name = nameOf(template)
  return (
    <span class="row nowrap">
      <ActionButton
        isSmall={isSmall}
        isRepeatable
        done={isPublic ? texts.unpublished : texts.published}
        confirm={isPublic ? undefined : { title: texts.publishTitle(name), text: texts.publishText, button: texts.publish }}
        code={publishCode(templateId, !isPublic)}
        run={() => setPublic(templateId, !isPublic).then(onDone)}
      >
        {isPublic ? texts.unpublish : texts.publish}
      </ActionButton>
      <ActionButton
        isSmall={isSmall}
        isRepeatable
        kind="danger"
        done={texts.deleted}
        confirm={{ title: texts.deleteTitle(name), text: texts.deleteText, button: texts.delete }}
        code={deleteCode(templateId)}
        run={() => deleteTemplate(templateId).then(onDeleted)}
      >
        {texts.delete}
      </ActionButton>
    </span>
  )
}
