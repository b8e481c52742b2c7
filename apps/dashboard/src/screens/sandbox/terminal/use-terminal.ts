import { FitAddon } from '@xterm/addon-fit'
import type { SearchAddon } from '@xterm/addon-search'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { Terminal, type ITheme } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isWebLink } from './replies.ts'
import { setSpanStylesByProperty } from './styles-by-property.ts'

export interface TerminalSettings {
  readonly theme: ITheme
  readonly isForScreenReaders: boolean
  readonly isReadOnly: boolean
  readonly onLink: (url: string) => void
  /** Fixed; absent: as large as the frame. */
  readonly size?: { readonly cols: number; readonly rows: number }
}

export interface TerminalParts {
  readonly terminal: Terminal
  /** Loaded when it is first called. */
  readonly search: () => Promise<SearchAddon>
  readonly fit: () => void
}

/**
 * A terminal in `frame`. Nothing that is printed can write the clipboard, change the page's title, or open a link by itself: no addon for OSC 52 is
 * loaded, titles are not listened to, and links ask first.
 */
export function useTerminal(frame: RefObject<HTMLElement | null>, settings: TerminalSettings): TerminalParts | undefined {
  const [parts, setParts] = useState<TerminalParts | undefined>(undefined)
  const onLinkRef = useRef(settings.onLink)
  useEffect(() => {
    onLinkRef.current = settings.onLink
  })
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const ask = (_: MouseEvent, url: string): void => {
      if (isWebLink(url)) onLinkRef.current(url)
    }
    setSpanStylesByProperty()
    const terminal = new Terminal({
      allowProposedApi: true,
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: 13,
      scrollback: 10_000,
      minimumContrastRatio: 4.5,
      cursorBlink: false,
      theme: settings.theme,
      screenReaderMode: settings.isForScreenReaders,
      disableStdin: settings.isReadOnly,
      linkHandler: { activate: ask, allowNonHttpProtocols: false },
    })
    const fitAddon = new FitAddon()
    terminal.loadAddon(fitAddon)
    terminal.loadAddon(new WebLinksAddon(ask))
    terminal.open(element)
    const { size } = settings
    if (size !== undefined) terminal.resize(size.cols, size.rows)
    const fit = (): void => {
      // A hidden frame has no size.
      if (size === undefined && element.clientWidth > 0 && element.clientHeight > 0) fitAddon.fit()
    }
    fit()
    const observer = new ResizeObserver(() => requestAnimationFrame(fit))
    observer.observe(element)
    let loaded: Promise<SearchAddon> | undefined
    const search = (): Promise<SearchAddon> => {
      loaded ??= loadSearch(terminal).catch((err: unknown) => {
        loaded = undefined
        throw err
      })
      return loaded
    }
    setParts({ terminal, search, fit })
    return () => {
      observer.disconnect()
      terminal.dispose()
      setParts(undefined)
    }
  }, [frame])
  useEffect(() => {
    if (parts === undefined) return
    Object.assign(parts.terminal.options, {
      theme: settings.theme,
      screenReaderMode: settings.isForScreenReaders,
      disableStdin: settings.isReadOnly,
    })
  }, [parts, settings.theme.background, settings.isForScreenReaders, settings.isReadOnly])
  return parts
}

async function loadSearch(terminal: Terminal): Promise<SearchAddon> {
  const { SearchAddon } = await import('@xterm/addon-search')
  const search = new SearchAddon({ highlightLimit: 1000 })
  terminal.loadAddon(search)
  return search
}
