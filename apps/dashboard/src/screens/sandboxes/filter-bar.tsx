import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyRow } from '@sandyard/dashboard-contract/credentials'
import { Icon } from '../../parts/icon.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { FilterMenu } from './filter-menu.tsx'
import { DEFAULT_VIEW, LIVE_STATES, SINCES, STATES, viewText, type ListView } from './list-view.ts'
import '../../styles/forms.css'
import '../../styles/details.css'

const TYPING_PAUSE_MS = 200

export interface FilterBarProps {
  readonly view: ListView
  readonly onChange: (view: ListView) => void
  readonly keys: readonly KeyRow[]
}

export function FilterBar({ view, onChange, keys }: FilterBarProps) {
  const chips = chipsOf(view, keys)
  return (
    <div class="stack list-filters">
      <div class="toolbar">
        <Search view={view} onChange={onChange} />
        <div class="button-group" role="group" aria-label={texts.states}>
          {STATES.map((state) => (
            <button
              key={state}
              type="button"
              class="button"
              aria-pressed={view.states.includes(state)}
              onClick={() => onChange({ ...view, states: toggled(view.states, state) })}
            >
              {state}
            </button>
          ))}
        </div>
        <select
          class="input"
          aria-label={texts.since}
          value={view.since}
          onChange={({ currentTarget }) => onChange({ ...view, since: SINCES.find((since) => since === currentTarget.value) ?? '' })}
        >
          <option value="">{texts.sinceAny}</option>
          {SINCES.map((since) => (
            <option key={since} value={since}>
              {texts.sinceText[since]}
            </option>
          ))}
        </select>
        <FilterMenu view={view} onChange={onChange} keys={keys} />
      </div>
      {chips.length > 0 && (
        <div class="row">
          {chips.map(({ name, without }) => (
            <span key={name} class="chip">
              {name}
              <button type="button" aria-label={texts.remove(name)} onClick={() => onChange(without)}>
                <Icon name="close" />
              </button>
            </span>
          ))}
          <button
            type="button"
            class="button button-small button-quiet"
            onClick={() => onChange({ ...DEFAULT_VIEW, sort: view.sort, order: view.order })}
          >
            {texts.clear}
          </button>
        </div>
      )}
    </div>
  )
}

function Search({ view, onChange }: Pick<FilterBarProps, 'view' | 'onChange'>) {
  const [text, setText] = useState(view.search)
  const typedRef = useRef(view.search)
  const latestRef = useRef({ view, onChange })
  useEffect(() => {
    latestRef.current = { view, onChange }
  })
  useEffect(() => {
    // Changed from elsewhere: a saved view, the back button.
    if (view.search !== typedRef.current) setText((typedRef.current = view.search))
  }, [view.search])
  useEffect(() => {
    if (text === latestRef.current.view.search) return undefined
    const timer = setTimeout(() => {
      typedRef.current = text
      latestRef.current.onChange({ ...latestRef.current.view, search: text })
    }, TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <input
      class="input list-search"
      type="search"
      data-search
      aria-label={texts.searchLabel}
      placeholder={texts.search}
      maxLength={256}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  )
}

/** The last one cannot be taken away: then the live ones are meant. */
function toggled(states: ListView['states'], state: ListView['states'][number]): ListView['states'] {
  const next = states.includes(state) ? states.filter((other) => other !== state) : [...states, state]
  return next.length === 0 ? LIVE_STATES : next
}

interface ChipOf {
  readonly name: string
  readonly without: ListView
}

function chipsOf(view: ListView, keys: readonly KeyRow[]): readonly ChipOf[] {
  const { search, template, metadata, since, keyId, minCpu, minMemoryMib } = view
  const key = keys.find((other) => other.keyId === keyId)
  const chips = [
    search !== '' && { name: `“${search}”`, without: { ...view, search: '' } },
    since !== '' && { name: texts.sinceText[since], without: { ...view, since: '' as const } },
    template !== '' && { name: `${texts.filterBy.template}: ${template}`, without: { ...view, template: '' } },
    ...metadata.map(([name, value]) => ({
      name: `${name}=${value}`,
      without: { ...view, metadata: metadata.filter(([otherName, other]) => otherName !== name || other !== value) },
    })),
    keyId !== '' && { name: `${texts.filterBy.key}: ${key?.name ?? keyId}`, without: { ...view, keyId: '' } },
    minCpu !== undefined && { name: `CPU ≥ ${minCpu}`, without: { ...view, minCpu: undefined } },
    minMemoryMib !== undefined && { name: `≥ ${minMemoryMib} MiB`, without: { ...view, minMemoryMib: undefined } },
  ]
  return chips.filter((chip): chip is ChipOf => chip !== false)
}

export function isFiltered(view: ListView): boolean {
  return viewText({ ...view, sort: DEFAULT_VIEW.sort, order: DEFAULT_VIEW.order }) !== ''
}
