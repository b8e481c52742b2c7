import type { Terminal } from '@xterm/xterm'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { openTerminal, type TerminalLink } from '../../../live/terminal-links.ts'
import { toast } from '../../../parts/toasts.tsx'
import { isReply } from './replies.ts'
import type { ShellTab } from './shell-state.ts'

/** After an attach, answers to questions of old output are dropped for this long. */
const REPLAY_MS = 1500

export interface ShellSource {
  readonly sandboxId: string
  readonly shell: ShellTab
  readonly onExit: (text: string) => void
}

export interface ShellLink {
  /** Undefined while the terminal is not attached. */
  readonly link: RefObject<TerminalLink | undefined>
  readonly size: { readonly cols: number; readonly rows: number }
  readonly isRecording: boolean
  /** Output that is not kept any more came before what is shown. */
  readonly isCut: boolean
  readonly failure: string | undefined
  /** Attaches again after a failure. */
  readonly retry: () => void
}

/** Connects a terminal of the page with a shell of the sandbox, in both directions. */
export function useShellLink(terminal: Terminal | undefined, { sandboxId, shell, onExit }: ShellSource): ShellLink {
  const linkRef = useRef<TerminalLink | undefined>(undefined)
  const [failure, setFailure] = useState<string | undefined>(undefined)
  const [isCut, setCut] = useState(false)
  const [recording, setRecording] = useState<{ readonly id: string | null }>({ id: null })
  const [size, setSize] = useState({ cols: 80, rows: 24 })
  const [turn, setTurn] = useState(0)

  useEffect(() => {
    if (terminal === undefined) return undefined
    const { cols, rows } = terminal
    const encoder = new TextEncoder()
    let attachedAt = 0
    setSize({ cols, rows })
    const link = openTerminal(
      { terminalId: shell.terminalId, sandboxId, ...(shell.create !== undefined && { create: shell.create }), cols, rows },
      {
        onAttached: (attached) => {
          attachedAt = performance.now()
          terminal.reset()
          setFailure(undefined)
          setCut(attached.isCut)
          link.resize(terminal.cols, terminal.rows)
        },
        onOutput: (bytes, done) => terminal.write(bytes, done),
        onExit: ({ text }) => onExit(text),
        // A new object each time: the box must show again what is, when it was refused.
        onRecording: (id, text) => {
          setRecording({ id })
          if (text !== undefined) toast('failed', text)
        },
        onError: ({ message }) => setFailure(message),
      },
    )
    linkRef.current = link
    const listeners = [
      terminal.onData((data) => {
        if (performance.now() - attachedAt < REPLAY_MS && isReply(data)) return
        link.type(encoder.encode(data))
      }),
      terminal.onBinary((data) => link.type(Uint8Array.from(data, (character) => character.charCodeAt(0)))),
      terminal.onResize((next) => {
        setSize(next)
        link.resize(next.cols, next.rows)
      }),
    ]
    return () => {
      for (const listener of listeners) listener.dispose()
      link.detach()
      linkRef.current = undefined
    }
  }, [terminal, shell.terminalId, turn])

  return { link: linkRef, size, isRecording: recording.id !== null, isCut, failure, retry: () => setTurn((former) => former + 1) }
}
