import { useState } from 'preact/hooks'
import type { TemplateTagGroup } from '@sandyard/api-contract/templates/tag-history'
import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { AssignTagDialog } from './assign-tag-dialog.tsx'
import { BuildLink } from './build-link.tsx'
import { TagHistoryDialog } from './tag-history-dialog.tsx'
import { assignCode, assignTag, nameOf, removeTag, removeTagCode } from './template-calls.ts'

interface Groups {
  readonly tags: readonly TemplateTagGroup[]
  readonly nextCursor: string | null
}

type Open = { readonly kind: 'assign'; readonly tag?: string } | { readonly kind: 'history'; readonly tag: string }

export interface TemplateTagsProps {
  readonly template: TemplateRow
  /** Grows when something else has changed the tags. */
  readonly turn: number
  readonly onChanged: () => void
}

export function TemplateTags({ template, turn, onChanged }: TemplateTagsProps) {
  const { templateId } = template
  const [search, setSearch] = useState('')
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const name = nameOf(template)
  const pages = usePages<TemplateTagGroup>(`${templateId} ${search} ${turn}`, async (tagsCursor, signal) => {
    const { data } = await wire<Groups>('GET', `/templates/${templateId}/tags/groups`, {
      query: { assignmentLimit: 2, tagsCursor, ...(search !== '' && { search }) },
      signal,
    })
    return { data: data.tags, nextCursor: data.nextCursor }
  })
  return (
    <section class="panel" aria-labelledby="tags">
      <div class="panel-head">
        <h2 id="tags">{texts.tags}</h2>
        <div class="actions">
          <SearchBox label={texts.searchTags} value={search} onSearch={setSearch} />
          <button type="button" class="button" onClick={() => setOpen({ kind: 'assign' })}>
            {texts.assign}
          </button>
        </div>
      </div>
      <PagedTable
        pages={pages}
        caption={texts.tags}
        rowKey={({ tag }) => tag}
        empty={texts.tagsEmpty}
        columns={[
          { id: 'tag', title: texts.tag, cell: ({ tag }) => <strong>{tag}</strong> },
          { id: 'build', title: texts.pointsTo, cell: ({ assignments: [now] }) => <BuildLink assignment={now} /> },
          { id: 'since', title: texts.since, cell: ({ assignments: [now] }) => <Time at={now?.assignedAt} /> },
          { id: 'before', title: texts.before, cell: ({ assignments: [, former] }) => <BuildLink assignment={former} /> },
          {
            id: 'actions',
            title: texts.columns.actions,
            cell: (group) => <TagActions name={name} group={group} onChanged={onChanged} onOpen={setOpen} />,
          },
        ]}
      />
      {open?.kind === 'assign' && (
        <AssignTagDialog template={template} tag={open.tag} onClose={() => setOpen(undefined)} onChanged={onChanged} />
      )}
      {open?.kind === 'history' && (
        <TagHistoryDialog template={template} tag={open.tag} onClose={() => setOpen(undefined)} onChanged={onChanged} />
      )}
    </section>
  )
}

interface TagActionsProps {
  readonly name: string
  readonly group: TemplateTagGroup
  readonly onChanged: () => void
  readonly onOpen: (open: Open) => void
}

function TagActions({ name, group: { tag, assignments }, onChanged, onOpen }: TagActionsProps) {
  const [now, former] = assignments
  return (
    <span class="row nowrap">
      {now !== undefined && former !== undefined && (
        <ActionButton
          isSmall
          done={texts.movedTo(tag, former.buildId.slice(0, 8))}
          confirm={{
            title: texts.rollBackTitle(tag),
            text: texts.rollBackText(now.buildId.slice(0, 8), former.buildId.slice(0, 8)),
            button: texts.rollBack,
          }}
          code={assignCode(name, tag, former.buildId)}
          run={() => assignTag(name, tag, former.buildId).then(onChanged)}
        >
          {texts.rollBack}
        </ActionButton>
      )}
      <button type="button" class="button button-small" onClick={() => onOpen({ kind: 'assign', tag })}>
        {texts.move}
      </button>
      <button type="button" class="button button-small" onClick={() => onOpen({ kind: 'history', tag })}>
        {texts.history}
      </button>
      <ActionButton
        isSmall
        kind="danger"
        done={texts.removedTag}
        confirm={{ title: texts.removeTagTitle(tag), text: texts.removeTagText, button: texts.removeTag }}
        code={removeTagCode(name, tag)}
        run={() => removeTag(name, tag).then(onChanged)}
      >
        {texts.removeTag}
      </ActionButton>
    </span>
  )
}
