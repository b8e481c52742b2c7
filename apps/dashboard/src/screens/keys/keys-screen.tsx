import { useState } from 'preact/hooks'
import type { CreatedTeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import type { KeyRow } from '@sandyard/dashboard-contract/credentials'
import { call } from '../../api/call.ts'
import { wire } from '../../api/wire.ts'
import { paths } from '../../frame/paths.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { now } from '../../parts/now.ts'
import { PagedTable } from '../../parts/paged-table.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { Time } from '../../parts/time.tsx'
import { Ago } from '../../parts/ago.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { keysTexts as texts } from '../../texts/keys-texts.ts'
import { CreatedKeyDialog } from './created-key-dialog.tsx'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { RenameKeyDialog } from './rename-key-dialog.tsx'
import '../../styles/keys.css'

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'created'; readonly created: CreatedTeamApiKey }
  | { readonly kind: 'rename'; readonly row: KeyRow }

export function KeysScreen() {
  const [{ search = '' }, change] = useUrlQuery()
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const pages = usePages(search, (cursor, signal) =>
    call('GET /keys', { query: { ...(search !== '' && { search }), ...(cursor !== undefined && { cursor }) }, signal }),
  )
  const close = (): void => setOpen(undefined)
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <button type="button" class="button button-primary" onClick={() => setOpen({ kind: 'new' })}>
            {texts.create}
          </button>
        </div>
      </div>
      <div class="toolbar">
        <SearchBox label={texts.search} value={search} onSearch={(text) => change({ search: text })} />
      </div>
      <PagedTable
        pages={pages}
        caption={texts.caption}
        rowKey={({ keyId }) => keyId}
        empty={texts.empty}
        columns={columns(pages.reload, (row) => setOpen({ kind: 'rename', row }))}
      />
      {open?.kind === 'new' && (
        <NewKeyDialog
          onClose={close}
          onCreated={(created) => {
            setOpen({ kind: 'created', created })
            pages.reload()
          }}
        />
      )}
      {open?.kind === 'created' && <CreatedKeyDialog created={open.created} onClose={close} />}
      {open?.kind === 'rename' && <RenameKeyDialog row={open.row} onClose={close} onRenamed={pages.reload} />}
    </div>
  )
}

function columns(reload: () => void, rename: (row: KeyRow) => void): readonly Column<KeyRow>[] {
  return [
    {
      id: 'name',
      title: texts.columns.name,
      cell: ({ name, isOwn }) => (
        <span class="row">
          <strong>{name}</strong>
          {isOwn && <span class="badge badge-accent">{texts.own}</span>}
        </span>
      ),
    },
    { id: 'mask', title: texts.columns.mask, cell: ({ mask }) => <code class="nowrap">{mask}</code> },
    { id: 'scope', title: texts.columns.scope, cell: ({ scope }) => texts.scopes[scope ?? ''] ?? scope },
    {
      id: 'live',
      title: texts.columns.live,
      isNumber: true,
      cell: ({ keyId, liveSandboxes }) => (liveSandboxes === 0 ? 0 : <a href={`${paths.sandboxes}?keyId=${keyId}`}>{liveSandboxes}</a>),
    },
    {
      id: 'used',
      title: texts.columns.used,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? <span class="muted">{texts.never}</span> : <Ago at={lastUsedAt} />),
    },
    {
      id: 'created',
      title: texts.columns.created,
      cell: ({ createdAt, createdBy }) => (
        <>
          <Ago at={createdAt} />
          {createdBy !== null && <div class="muted small">{createdBy}</div>}
        </>
      ),
    },
    {
      id: 'expires',
      title: texts.columns.expires,
      cell: ({ expiresAt }) => (expiresAt === null ? <span class="muted">{texts.never}</span> : <Expiry at={expiresAt} />),
    },
    {
      id: 'actions',
      title: texts.columns.actions,
      cell: (row) => (
        <span class="row nowrap">
          <button type="button" class="button button-small" onClick={() => rename(row)}>
            {texts.rename}
          </button>
          <ActionButton
            isSmall
            kind="danger"
            done={texts.deleted}
            confirm={{
              title: texts.deleteTitle(row.name),
              text: `${texts.deleteText(row.liveSandboxes)}${row.isOwn ? ` ${texts.deleteOwnText}` : ''}`,
              button: texts.delete,
            }}
            code={{ cli: `sandyard keys revoke ${row.keyId} --yes` }}
            run={() => wire('DELETE', `/api-keys/${row.keyId}`).then(reload)}
          >
            {texts.delete}
          </ActionButton>
        </span>
      ),
    },
  ]
}

function Expiry({ at }: { readonly at: string }) {
  return (
    <span class="row nowrap">
      <Time at={at} />
      {Date.parse(at) < now.value && <span class="badge badge-bad">{texts.expired}</span>}
    </span>
  )
}
