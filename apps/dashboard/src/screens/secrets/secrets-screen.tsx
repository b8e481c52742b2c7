import { useState } from 'preact/hooks'
import type { SecretInfo } from '@sandyard/api-contract/secrets/secret'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Ago } from '../../parts/ago.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { curlOf } from '../../parts/wire-code.ts'
import { secretsTexts as texts } from '../../texts/secrets-texts.ts'
import { SecretDialog } from './secret-dialog.tsx'
import '../../styles/secrets.css'

type Open = { readonly secret: SecretInfo | undefined }

export function SecretsScreen() {
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const pages = usePages('', async (nextToken, signal) => {
    const answer = await wire<SecretInfo[]>('GET', '/secrets', { query: { nextToken, limit: 100 }, signal })
    return { data: answer.data, nextCursor: answer.nextToken }
  })
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <button type="button" class="button button-primary" onClick={() => setOpen({ secret: undefined })}>
            {texts.create}
          </button>
        </div>
      </div>
      <PagedTable
        pages={pages}
        caption={texts.caption}
        rowKey={({ secretID }) => secretID}
        empty={texts.empty}
        columns={columns(pages.reload, (secret) => setOpen({ secret }))}
      />
      {open !== undefined && <SecretDialog secret={open.secret} onClose={() => setOpen(undefined)} onSaved={pages.reload} />}
    </div>
  )
}

function columns(reload: () => void, replace: (secret: SecretInfo) => void): readonly Column<SecretInfo>[] {
  return [
    { id: 'name', title: texts.columns.name, cell: ({ name }) => <strong>{name}</strong> },
    { id: 'id', title: texts.columns.id, cell: ({ secretID }) => <code>{secretID}</code> },
    { id: 'version', title: texts.columns.version, isNumber: true, cell: ({ currentVersion }) => currentVersion },
    {
      id: 'metadata',
      title: texts.columns.metadata,
      cell: ({ metadata }) => (
        <span class="small">
          {Object.entries(metadata)
            .map(([key, value]) => `${key}=${value}`)
            .join(', ')}
        </span>
      ),
    },
    { id: 'updated', title: texts.columns.updated, cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
    { id: 'created', title: texts.columns.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      id: 'actions',
      title: texts.columns.actions,
      cell: (secret) => (
        <span class="row nowrap">
          <button type="button" class="button button-small" onClick={() => replace(secret)}>
            {texts.replace}
          </button>
          <ActionButton
            isSmall
            kind="danger"
            done={texts.deleted}
            confirm={{ title: texts.deleteTitle(secret.name), text: texts.deleteText, button: texts.delete }}
            code={{ curl: curlOf({ method: 'DELETE', path: `/secrets/${secret.secretID}` }) }}
            run={() => wire('DELETE', `/secrets/${secret.secretID}`).then(reload)}
          >
            {texts.delete}
          </ActionButton>
        </span>
      ),
    },
  ]
}
