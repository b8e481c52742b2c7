import { isKeysOpen, isPaletteOpen } from './palette-state.ts'

/** Keys of every screen: Ctrl-K, `/`, `?`, and in tables `j`, `k`, `x`; Enter follows the focused link of a row. */
export function listenToKeys(): () => void {
  const listener = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k' && !isInTerminal(event)) {
      event.preventDefault()
      isPaletteOpen.value = !isPaletteOpen.value
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return
    if (document.querySelector('dialog[open]') !== null) return
    if (act(event.key)) event.preventDefault()
  }
  addEventListener('keydown', listener)
  // Who types at once after Ctrl-K must not wait for the palette's file.
  import('./palette.tsx').catch(() => undefined)
  return () => removeEventListener('keydown', listener)
}

function act(key: string): boolean {
  switch (key) {
    case '?':
      isKeysOpen.value = true
      return true
    case '/': {
      const search = document.querySelector<HTMLInputElement>('main [data-search]')
      search?.focus()
      search?.select()
      return search !== null
    }
    case 'j':
      return goToRow(1)
    case 'k':
      return goToRow(-1)
    case 'x': {
      const box = document.activeElement?.closest('tr[data-row]')?.querySelector<HTMLInputElement>('input[type="checkbox"]')
      box?.click()
      return box !== undefined && box !== null
    }
    default:
      return false
  }
}

function goToRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main tr[data-row]')]
  const current = rows.indexOf(document.activeElement?.closest<HTMLElement>('tr[data-row]') as HTMLElement)
  const next = rows[current === -1 ? 0 : current + step]
  const target = next?.querySelector<HTMLElement>('a[href]') ?? next?.querySelector<HTMLElement>('button, input')
  target?.focus()
  target?.scrollIntoView({ block: 'nearest' })
  return target !== undefined && target !== null
}

function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && (target.type === 'checkbox' || target.type === 'radio')) return false
  return target.isContentEditable || target.matches('input, textarea, select')
}

/** Shells have a Ctrl-K of their own. */
function isInTerminal({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('.xterm') !== null
}
