import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { paths } from '../../frame/paths.ts'
import { readStoredJson, writeStored } from '../../frame/stored.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { frameTexts } from '../../texts/frame-texts.ts'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { CHOSEN_COLUMNS } from './list-columns.tsx'
import { viewText, type ListView } from './list-view.ts'
import '../../styles/forms.css'

const MAX_VIEWS = 30

type SavedView = readonly [name: string, query: string]

function readViews(): readonly SavedView[] {
  const stored = readStoredJson('sandboxes.views')
  if (!Array.isArray(stored)) return []
  return stored.filter((view): view is SavedView => Array.isArray(view) && typeof view[0] === 'string' && typeof view[1] === 'string')
}

/** Views of everybody, and those that are saved in this browser. */
export function ViewsMenu({ view }: { readonly view: ListView }) {
  const { route } = useLocation()
  const [views, setViews] = useState(readViews)
  const [isNaming, setNaming] = useState(false)
  const [name, setName] = useState('')
  const store = (next: readonly SavedView[]): void => {
    setViews(next)
    writeStored('sandboxes.views', JSON.stringify(next))
  }
  const go = (query: string): void => route(query === '' ? paths.sandboxes : `${paths.sandboxes}?${query}`)
  const save = (): void => {
    const named = name.trim()
    if (named === '') return
    store([...views.filter(([other]) => other !== named), [named, viewText(view)] as const].slice(-MAX_VIEWS))
    setNaming(false)
    setName('')
  }
  return (
    <>
      <Menu
        label={texts.views}
        button={
          <>
            {texts.views} <Icon name="down" />
          </>
        }
      >
        {texts.fixedViews.map(([name, query]) => (
          <button key={name} type="button" onClick={() => go(query)}>
            {name}
          </button>
        ))}
        {views.length > 0 && <hr />}
        {views.map(([name, query]) => (
          <span key={name} class="saved-view">
            <button type="button" class="menu-item" onClick={() => go(query)}>
              {name}
            </button>
            <button
              type="button"
              class="button button-small button-icon button-quiet"
              data-keep-open
              aria-label={texts.removeView(name)}
              onClick={() => store(views.filter(([other]) => other !== name))}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
        <hr />
        <button type="button" onClick={() => setNaming(true)}>
          {texts.saveView}
        </button>
      </Menu>
      {isNaming && (
        <Dialog title={texts.saveView} onClose={() => setNaming(false)}>
          <form
            class="form"
            onSubmit={(event) => {
              event.preventDefault()
              save()
            }}
          >
            <label class="field">
              {texts.viewName}
              <input class="input" maxLength={60} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
            </label>
            <div class="dialog-buttons">
              <button type="button" class="button" onClick={() => setNaming(false)}>
                {frameTexts.cancel}
              </button>
              <button type="submit" class="button button-primary" disabled={name.trim() === ''}>
                {texts.save}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}

export function readHiddenColumns(): ReadonlySet<string> {
  const stored = readStoredJson('sandboxes.hidden')
  return new Set(Array.isArray(stored) ? stored.filter((name): name is string => CHOSEN_COLUMNS.includes(name)) : [])
}

interface ColumnsMenuProps {
  readonly hidden: ReadonlySet<string>
  readonly onChange: (hidden: ReadonlySet<string>) => void
}

export function ColumnsMenu({ hidden, onChange }: ColumnsMenuProps) {
  const toggle = (name: string): void => {
    const next = new Set(hidden)
    if (!next.delete(name)) next.add(name)
    writeStored('sandboxes.hidden', JSON.stringify([...next]))
    onChange(next)
  }
  return (
    <Menu
      label={texts.columns}
      button={
        <>
          <Icon name="columns" />
          {texts.columns}
        </>
      }
    >
      <div data-keep-open>
        {CHOSEN_COLUMNS.map((name) => (
          <label key={name} class="menu-item">
            <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} />
            {texts.column[name]}
          </label>
        ))}
      </div>
    </Menu>
  )
}
