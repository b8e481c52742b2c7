import { useEffect, useRef, useState } from 'preact/hooks'
import { openTerminal, type TerminalLink } from '../../../live/terminal-links.ts'
import { copyAndSay } from '../../../parts/copy-and-say.ts'
import { useRemembered } from '../../../parts/remembered.ts'
import { toast } from '../../../parts/toasts.tsx'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'
import { LinkQuestion } from './link-question.tsx'
import { isReply } from './replies.ts'
import { ShellToolbar } from './shell-toolbar.tsx'
import type { ShellTab } from './shell-state.ts'
import { useTerminalTheme } from './terminal-theme.ts'
import { signalCode } from '../inside-code.ts'
import { useTerminal } from './use-terminal.ts'

/** After an attach, answers to questions of old output are dropped for this long. */
const REPLAY_MS = 1500

interface Props {
  readonly sandboxId: string
  readonly shell: ShellTab
  readonly isShown: boolean
  readonly canType: boolean
  /** Null: not known yet. */
  readonly pid: number | null
  /** It is closed for this page. */
  readonly onClose: () => void
}

export function Shell({ sandboxId, shell, isShown, canType, pid, onClose }: Props) {
  const frame = useRef<HTMLDivElement | null>(null)
  const toolbar = useRef<HTMLDivElement | null>(null)
  const linkRef = useRef<TerminalLink | undefined>(undefined)
  const [isForScreenReaders] = useRemembered<boolean>('terminal.screenReader', false)
  const [screenReader, setScreenReader] = useState(isForScreenReaders)
  const [isFull, setFull] = useState(false)
  const [exit, setExit] = useState<string | undefined>(undefined)
  const [failure, setFailure] = useState<string | undefined>(undefined)
  const [isCut, setCut] = useState(false)
  const [recording, setRecording] = useState<{ readonly id: string | null }>({ id: null })
  const [size, setSize] = useState({ cols: 80, rows: 24 })
  const [url, setUrl] = useState<string | undefined>(undefined)
  const [turn, setTurn] = useState(0)
  const theme = useTerminalTheme()
  const parts = useTerminal(frame, {
    theme,
    isForScreenReaders: screenReader,
    isReadOnly: !canType || exit !== undefined,
    onLink: setUrl,
  })

  useEffect(() => {
    if (parts === undefined) return undefined
    const { terminal } = parts
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
        onExit: ({ text }) => setExit(text),
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
    terminal.attachCustomKeyEventHandler((event) => {
      if (!event.ctrlKey || !event.shiftKey) return true
      if (event.key === 'ArrowUp') {
        if (event.type === 'keydown') toolbar.current?.querySelector<HTMLElement>('input, button')?.focus()
        return false
      }
      if (event.key.toLowerCase() !== 'c') return true
      event.preventDefault()
      if (event.type === 'keydown') void copy(terminal.getSelection())
      return false
    })
    return () => {
      for (const listener of listeners) listener.dispose()
      link.detach()
      linkRef.current = undefined
    }
  }, [parts, shell.terminalId, turn])

  useEffect(() => {
    if (!isShown || parts === undefined) return
    parts.fit()
    parts.terminal.focus()
  }, [isShown, isFull, parts])

  const copyAll = async (): Promise<void> => {
    if (parts === undefined) return
    const { terminal } = parts
    const isSelected = terminal.hasSelection()
    if (!isSelected) terminal.selectAll()
    const text = terminal.getSelection()
    if (!isSelected) terminal.clearSelection()
    await copy(text)
  }

  return (
    <div class={`shell${isFull ? ' shell-full' : ''}`} hidden={!isShown}>
      <ShellToolbar
        frame={toolbar}
        search={parts?.search}
        size={size}
        isRunning={exit === undefined && canType}
        isRecording={recording.id !== null}
        onRecord={(isOn) => linkRef.current?.record(isOn)}
        isFull={isFull}
        onFull={setFull}
        isForScreenReaders={screenReader}
        onScreenReaders={setScreenReader}
        onCopy={copyAll}
        endCode={pid === null ? undefined : signalCode(sandboxId, pid, 'HUP')}
        onEnd={() => {
          linkRef.current?.end()
          return Promise.resolve()
        }}
        onClose={onClose}
      />
      {failure !== undefined && (
        <p class="notice notice-failed" role="alert">
          {failure}{' '}
          <button type="button" class="button button-small" onClick={() => setTurn((former) => former + 1)}>
            {texts.retry}
          </button>
        </p>
      )}
      {isCut && <p class="muted shell-cut">{texts.cut}</p>}
      {exit !== undefined && (
        <p class="notice" role="status">
          {texts.exited(exit)}
        </p>
      )}
      <div ref={frame} class="shell-frame" role="group" aria-label={texts.region(shell.title)} />
      {url !== undefined && <LinkQuestion url={url} onClose={() => setUrl(undefined)} />}
    </div>
  )
}

async function copy(text: string): Promise<void> {
  if (text !== '') await copyAndSay(text)
}
