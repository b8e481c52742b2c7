import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { paletteTexts } from '../texts/palette-texts.ts'
import { findItems } from './find-items.ts'
import { isPaletteOpen } from './palette-state.ts'
import { matchItems } from './match-items.ts'
import { fixedItems, type PaletteItem } from './palette-items.ts'

/** Keys do not ask the server; a pause in typing does. */
const TYPING_PAUSE_MS = 150

export function Palette() {
  const { route } = useLocation()
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly PaletteItem[]>([])
  const [at, setAt] = useState(0)
  const items = [...matchItems(fixedItems(), text), ...found]
  const chosen = Math.min(at, items.length - 1)
  useEffect(() => {
    const leaving = new AbortController()
    const timer = setTimeout(() => void findItems(text.trim(), leaving.signal).then(setFound, () => undefined), TYPING_PAUSE_MS)
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [text])
  const close = (): void => {
    isPaletteOpen.value = false
  }
  const use = (item: PaletteItem | undefined): void => {
    if (item === undefined) return
    close()
    if (item.path !== undefined) route(item.path)
    else item.run?.()
  }
  return (
    <Dialog title={paletteTexts.title} onClose={close}>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-label={paletteTexts.label}
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={items.length === 0 ? undefined : `palette-${chosen}`}
        autocomplete="off"
        spellcheck={false}
        placeholder={paletteTexts.placeholder}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step !== 0) setAt((chosen + step + items.length) % Math.max(1, items.length))
          else if (event.key === 'Enter') use(items[chosen])
          else return
          event.preventDefault()
        }}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label={paletteTexts.title}>
        {items.map((item, index) => (
          <Option key={item.label} item={item} index={index} isChosen={index === chosen} onUse={use} />
        ))}
      </div>
      {items.length === 0 && <p class="empty">{paletteTexts.nothing}</p>}
    </Dialog>
  )
}

interface OptionProps {
  readonly item: PaletteItem
  readonly index: number
  readonly isChosen: boolean
  readonly onUse: (item: PaletteItem) => void
}

function Option({ item, index, isChosen, onUse }: OptionProps) {
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the focus is in the input, which has the keys
    <div
      id={`palette-${index}`}
      role="option"
      aria-selected={isChosen}
      onClick={() => onUse(item)}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: 'nearest' })
      }}
    >
      <Icon name={item.icon satisfies IconName} />
      <span class="truncate">{item.label}</span>
    </div>
  )
}
