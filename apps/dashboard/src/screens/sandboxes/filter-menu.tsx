import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import type { FilterBarProps } from './filter-bar.tsx'
import '../../styles/forms.css'

const MOST_NAMES = 100

/** The filters that need a value. */
export function FilterMenu({ view, onChange, keys }: FilterBarProps) {
  const [names, setNames] = useState<readonly string[]>([])
  const readNames = (): void => {
    call('GET /templates', { query: { limit: MOST_NAMES } }).then(
      ({ data }) => setNames(data.map(({ names, templateId }) => names[0] ?? templateId)),
      () => undefined,
    )
  }
  const apply = (form: HTMLFormElement): void => {
    const values = new FormData(form)
    const text = (name: string): string => (values.get(name) as string | null)?.trim() ?? ''
    const [key = '', ...value] = text('metadata').split('=')
    const added = key !== '' && value.length > 0 ? [[key.trim(), value.join('=').trim()] as const] : []
    onChange({
      ...view,
      template: text('template'),
      metadata: [...view.metadata.filter(([name]) => name !== added[0]?.[0]), ...added],
      keyId: text('keyId'),
      minCpu: Number(text('minCpu')) || undefined,
      minMemoryMib: Number(text('minMemoryMib')) || undefined,
    })
    form.closest<HTMLElement>('[popover]')?.hidePopover()
  }
  const { filterBy } = texts
  return (
    <Menu
      label={texts.filter}
      onOpen={readNames}
      button={
        <>
          <Icon name="filter" />
          {texts.filter}
        </>
      }
    >
      <form
        class="form filter-form"
        data-keep-open
        onSubmit={(event) => {
          event.preventDefault()
          apply(event.currentTarget)
        }}
      >
        <label class="field">
          {filterBy.template}
          <input class="input" name="template" list="filter-templates" maxLength={256} defaultValue={view.template} key={view.template} />
        </label>
        <datalist id="filter-templates">
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </datalist>
        <label class="field">
          {filterBy.metadata}
          <input class="input mono" name="metadata" maxLength={512} placeholder={texts.metadataHint} />
        </label>
        <label class="field">
          {filterBy.key}
          <select class="input" name="keyId" defaultValue={view.keyId} key={view.keyId}>
            <option value="">{texts.anyKey}</option>
            {keys.map(({ keyId, name }) => (
              <option key={keyId} value={keyId}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <div class="row">
          <label class="field grow">
            {filterBy.minCpu}
            <input class="input" name="minCpu" type="number" min="1" max="1024" defaultValue={view.minCpu?.toString() ?? ''} />
          </label>
          <label class="field grow">
            {filterBy.minMemoryMib}
            <input
              class="input"
              name="minMemoryMib"
              type="number"
              min="1"
              max="16777216"
              defaultValue={view.minMemoryMib?.toString() ?? ''}
            />
          </label>
        </div>
        <button type="submit" class="button button-primary">
          {texts.apply}
        </button>
      </form>
    </Menu>
  )
}
