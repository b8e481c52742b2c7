import type { Terminal } from '@xterm/xterm'
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import { copyAndSay } from '../../../parts/copy-and-say.ts'

/** Keys of the page, which the shell does not get: Ctrl-Shift-Up goes to the toolbar, Ctrl-Shift-C copies what is selected. */
export function useShellKeys(terminal: Terminal | undefined, toolbar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    terminal?.attachCustomKeyEventHandler((event) => {
      if (!event.ctrlKey || !event.shiftKey) return true
      if (event.key === 'ArrowUp') {
        if (event.type === 'keydown') toolbar.current?.querySelector<HTMLElement>('input, button')?.focus()
        return false
      }
      if (event.key.toLowerCase() !== 'c') return true
      event.preventDefault()
      const selected = terminal.getSelection()
      if (event.type === 'keydown' && selected !== '') void copyAndSay(selected)
      return false
    })
  }, [terminal])
}
