import { useState } from 'preact/hooks'
import type { Volume } from '@sandyard/api-contract/volumes/volume'
import { useCall } from '../../api/use-call.ts'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { toast } from '../../parts/toasts.tsx'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { curlOf } from '../../parts/wire-code.ts'
import { volumesTexts as texts } from '../../texts/volumes-texts.ts'
import { VolumeContent } from './volume-content.tsx'
import '../../styles/volumes.css'

export function VolumesScreen() {
  const [{ volume: volumeId = '', path = '/' }, change] = useUrlQuery()
  const [isCreating, setCreating] = useState(false)
  const { value, failure, reload } = useCall('', async (signal) => (await wire<Volume[]>('GET', '/volumes', { signal })).data)
  const opened = value?.find(({ volumeID }) => volumeID === volumeId)
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <button type="button" class="button button-primary" onClick={() => setCreating(true)}>
            {texts.create}
          </button>
        </div>
      </div>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {(rows) => (
          <DataTable
            caption={texts.caption}
            rows={rows}
            rowKey={({ volumeID }) => volumeID}
            empty={texts.empty}
            isSelected={({ volumeID }) => volumeID === volumeId}
            columns={columns(reload, (id) => change({ volume: id, path: '' }))}
          />
        )}
      </LoadedPart>
      {opened !== undefined && (
        <VolumeContent key={opened.volumeID} volume={opened} path={path} onPath={(next) => change({ path: next === '/' ? '' : next })} />
      )}
      {isCreating && <NewVolumeDialog onClose={() => setCreating(false)} onCreated={reload} />}
    </div>
  )
}

function columns(reload: () => void, browse: (volumeId: string) => void): readonly Column<Volume>[] {
  return [
    { id: 'name', title: texts.columns.name, cell: ({ name }) => <strong>{name}</strong> },
    { id: 'id', title: texts.columns.id, cell: ({ volumeID }) => <code>{volumeID}</code> },
    {
      id: 'actions',
      title: texts.columns.actions,
      cell: ({ volumeID, name }) => (
        <span class="row nowrap">
          <button type="button" class="button button-small" onClick={() => browse(volumeID)}>
            {texts.browse}
          </button>
          <ActionButton
            isSmall
            kind="danger"
            done={texts.deleted}
            confirm={{ title: texts.deleteTitle(name), text: texts.deleteText, button: texts.delete }}
            code={{
              javascript: `await Volume.destroy('${volumeID}')`,
              python: `Volume.destroy('${volumeID}')`,
              curl: curlOf({ method: 'DELETE', path: `/volumes/${volumeID}` }),
            }}
            run={() => wire('DELETE', `/volumes/${volumeID}`).then(reload)}
          >
            {texts.delete}
          </ActionButton>
        </span>
      ),
    },
  ]
}

function NewVolumeDialog({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: () => void }) {
  const [name, setName] = useState('')
  const submit = async (): Promise<void> => {
    await wire('POST', '/volumes', { body: { name } })
    toast('done', texts.created)
    onCreated()
  }
  const code = {
    javascript: `await Volume.create('${name}')`,
    python: `Volume.create('${name}')`,
    curl: curlOf({ method: 'POST', path: '/volumes', body: { name } }),
  }
  return (
    <FormDialog
      title={texts.createTitle}
      button={texts.createButton}
      code={name === '' ? undefined : code}
      onClose={onClose}
      onSubmit={submit}
    >
      <FormField
        label={texts.name}
        value={name}
        onChange={setName}
        hint={texts.nameHint}
        isRequired
        maxLength={128}
        pattern="[a-zA-Z0-9_\-]{1,128}"
      />
    </FormDialog>
  )
}
