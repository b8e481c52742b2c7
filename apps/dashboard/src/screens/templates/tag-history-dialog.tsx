import type { TemplateTagAssignment } from '@sandyard/api-contract/templates/tag-history'
import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import type { Page } from '@sandyard/dashboard-contract/api-shape'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { partTexts } from '../../texts/part-texts.ts'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { BuildLink } from './build-link.tsx'
import { assignCode, assignTag, nameOf } from './template-calls.ts'

export interface TagHistoryDialogProps {
  readonly template: TemplateRow
  readonly tag: string
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Every build that the tag has pointed to, and the way back to each. */
export function TagHistoryDialog({ template, tag, onClose, onChanged }: TagHistoryDialogProps) {
  const name = nameOf(template)
  const path = `/templates/${template.templateId}/tags/${encodeURIComponent(tag)}/assignments` as const
  const pages = usePages<TemplateTagAssignment>(path, async (cursor, signal) => {
    const { data } = await wire<Page<TemplateTagAssignment>>('GET', path, { query: { cursor }, signal })
    return data
  })
  const current = pages.items?.[0]
  const use = async (buildId: string): Promise<void> => {
    await assignTag(name, tag, buildId)
    onChanged()
    onClose()
  }
  return (
    <Dialog title={texts.historyOf(tag)} onClose={onClose}>
      <div class="stack">
        <PagedTable
          pages={pages}
          caption={texts.historyOf(tag)}
          rowKey={({ assignmentId }) => assignmentId}
          empty={texts.tagsEmpty}
          columns={[
            { id: 'build', title: texts.build, cell: (assignment) => <BuildLink assignment={assignment} /> },
            { id: 'since', title: texts.since, cell: ({ assignedAt }) => <Time at={assignedAt} /> },
            {
              id: 'actions',
              title: texts.columns.actions,
              cell: ({ buildId, assignmentId }) =>
                assignmentId === current?.assignmentId || buildId === current?.buildId ? (
                  texts.current
                ) : (
                  <ActionButton
                    isSmall
                    done={texts.movedTo(tag, buildId.slice(0, 8))}
                    code={assignCode(name, tag, buildId)}
                    run={() => use(buildId)}
                  >
                    {texts.useThis}
                  </ActionButton>
                ),
            },
          ]}
        />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            {partTexts.close}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
