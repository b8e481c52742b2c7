import { useRef, useState } from 'preact/hooks'
import type { Volume } from '@sandyard/api-contract/volumes/volume'
import type { VolumeEntry } from '@sandyard/dashboard-contract/volumes'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { ActionButton, type ActionCode } from '../../parts/action-button.tsx'
import { Ago } from '../../parts/ago.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { Panel } from '../../parts/panel.tsx'
import { runAction } from '../../parts/run-action.ts'
import { saveFile } from '../../parts/save-file.ts'
import { sizeText } from '../../parts/size-text.ts'
import { volumesTexts as texts } from '../../texts/volumes-texts.ts'
import { Crumbs } from './crumbs.tsx'

export interface VolumeContentProps {
  readonly volume: Volume
  /** Absolute, in the volume. */
  readonly path: string
  readonly onPath: (path: string) => void
}

export function VolumeContent({ volume: { volumeID: volumeId, name }, path, onPath }: VolumeContentProps) {
  const [isMaking, setMaking] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)
  const params = { volumeId }
  const { value, failure, reload } = useCall(`${volumeId} ${path}`, (signal) =>
    call('GET /volumes/{volumeId}/files', { params, query: { path }, signal }),
  )
  const upload = async (file: File): Promise<void> => {
    const query = { path: childOf(path, file.name) }
    const run = (): Promise<unknown> => call('PUT /volumes/{volumeId}/files/content', { params, query, body: file })
    if (await runAction({ label: texts.uploading(file.name), done: texts.uploaded(file.name), run })) reload()
  }
  const uploadAll = async (input: HTMLInputElement): Promise<void> => {
    for (const file of input.files ?? []) await upload(file)
    input.value = ''
  }
  return (
    <Panel
      title={texts.content(name)}
      isFlush
      actions={
        <>
          <button type="button" class="button" onClick={() => setMaking(true)}>
            {texts.folder}
          </button>
          <button type="button" class="button" onClick={() => chooser.current?.click()}>
            <Icon name="upload" />
            {texts.upload}
          </button>
          <input
            ref={chooser}
            type="file"
            hidden
            multiple
            aria-label={texts.upload}
            onChange={({ currentTarget }) => void uploadAll(currentTarget)}
          />
        </>
      }
    >
      <Crumbs path={path} root={name} label={texts.path} onPath={onPath} />
      <LoadedPart value={value} failure={failure} reload={reload}>
        {({ entries, isCut }) => (
          <>
            <DataTable
              caption={texts.content(name)}
              rows={entries}
              rowKey={(entry) => entry.path}
              empty={texts.contentEmpty}
              columns={columns(volumeId, onPath, reload)}
            />
            {isCut && <p class="empty">{texts.cut}</p>}
          </>
        )}
      </LoadedPart>
      {isMaking && (
        <FolderDialog
          codeOf={(folder) => volumeCode(volumeId, { javascript: 'makeDir', python: 'make_dir' }, childOf(path, folder))}
          onClose={() => setMaking(false)}
          onMake={(folder) => call('POST /volumes/{volumeId}/files/folder', { params, body: { path: childOf(path, folder) } }).then(reload)}
        />
      )}
    </Panel>
  )
}

function childOf(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`
}

function columns(volumeId: string, onPath: (path: string) => void, reload: () => void): readonly Column<VolumeEntry>[] {
  const params = { volumeId }
  return [
    {
      id: 'name',
      title: texts.columns.name,
      cell: ({ name, path, kind }) =>
        kind === 'directory' ? (
          <button type="button" class="volume-folder" onClick={() => onPath(path)}>
            <Icon name="folder" />
            {name}
          </button>
        ) : (
          <span class="volume-file">
            <Icon name="file" />
            {name}
          </span>
        ),
    },
    { id: 'size', title: texts.columns.size, isNumber: true, cell: ({ kind, bytes }) => (kind === 'directory' ? '–' : sizeText(bytes)) },
    { id: 'mode', title: texts.columns.mode, cell: ({ mode }) => <code>{mode}</code> },
    { id: 'modified', title: texts.columns.modified, cell: ({ modifiedAt }) => <Ago at={modifiedAt} /> },
    {
      id: 'actions',
      title: texts.columns.actions,
      cell: ({ name, path, kind }) => (
        <span class="row nowrap">
          {kind === 'file' && (
            <ActionButton
              isSmall
              run={async () => saveFile(name, await call('GET /volumes/{volumeId}/files/content', { params, query: { path } }))}
            >
              {texts.download}
            </ActionButton>
          )}
          <ActionButton
            isSmall
            kind="danger"
            done={texts.removed}
            confirm={{ title: texts.removeTitle(name), text: texts.removeText, button: texts.remove }}
            code={volumeCode(volumeId, { javascript: 'remove', python: 'remove' }, path)}
            run={() => call('POST /volumes/{volumeId}/files/remove', { params, body: { path } }).then(reload)}
          >
            {texts.remove}
          </ActionButton>
        </span>
      ),
    },
  ]
}

/** A call of the SDK for the content of a volume. */
function volumeCode(volumeId: string, method: { readonly javascript: string; readonly python: string }, path: string): ActionCode {
  const text = JSON.stringify(path)
  return {
    javascript: `import { Volume } from 'e2b'\n\nconst volume = await Volume.connect('${volumeId}')\nawait volume.${method.javascript}(${text})`,
    python: `from e2b import Volume\n\nvolume = Volume.connect("${volumeId}")\nvolume.${method.python}(${text})`,
  }
}

interface FolderDialogProps {
  readonly codeOf: (name: string) => ActionCode
  readonly onClose: () => void
  readonly onMake: (name: string) => Promise<unknown>
}

function FolderDialog({ codeOf, onClose, onMake }: FolderDialogProps) {
  const [name, setName] = useState('')
  return (
    <FormDialog
      title={texts.folderTitle}
      button={texts.folderButton}
      code={name === '' ? undefined : codeOf(name)}
      onClose={onClose}
      onSubmit={() => onMake(name)}
    >
      <FormField label={texts.folderName} value={name} onChange={setName} isRequired maxLength={255} pattern="[^\/]+" />
    </FormDialog>
  )
}
