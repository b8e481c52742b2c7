import { useEffect, useRef, useState } from 'preact/hooks'
import { copyAndSay } from '../../../parts/copy-and-say.ts'
import { useRemembered } from '../../../parts/remembered.ts'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'
import { LinkQuestion } from './link-question.tsx'
import { ShellToolbar } from './shell-toolbar.tsx'
import type { ShellTab } from './shell-state.ts'
import { useTerminalTheme } from './terminal-theme.ts'
import { signalCode } from '../inside-code.ts'
import { useShellKeys } from './use-shell-keys.ts'
import { useShellLink } from './use-shell-link.ts'
import { useTerminal } from './use-terminal.ts'

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
  const [isForScreenReaders] = useRemembered<boolean>('terminal.screenReader', false)
  const [screenReader, setScreenReader] = useState(isForScreenReaders)
  const [isFull, setFull] = useState(false)
  const [exit, setExit] = useState<string | undefined>(undefined)
  const [url, setUrl] = useState<string | undefined>(undefined)
  const theme = useTerminalTheme()
  const parts = useTerminal(frame, {
    theme,
    isForScreenReaders: screenReader,
    isReadOnly: !canType || exit !== undefined,
    onLink: setUrl,
  })

  const { link, size, isRecording, isCut, failure, retry } = useShellLink(parts?.terminal, { sandboxId, shell, onExit: setExit })
  useShellKeys(parts?.terminal, toolbar)

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
    if (text !== '') await copyAndSay(text)
  }

  return (
    <div class={`shell${isFull ? ' shell-full' : ''}`} hidden={!isShown}>
      <ShellToolbar
        frame={toolbar}
        search={parts?.search}
        size={size}
        isRunning={exit === undefined && canType}
        isRecording={isRecording}
        onRecord={(isOn) => link.current?.record(isOn)}
        isFull={isFull}
        onFull={setFull}
        isForScreenReaders={screenReader}
        onScreenReaders={setScreenReader}
        onCopy={copyAll}
        endCode={pid === null ? undefined : signalCode(sandboxId, pid, 'HUP')}
        onEnd={() => {
          link.current?.end()
          return Promise.resolve()
        }}
        onClose={onClose}
      />
      {failure !== undefined && (
        <p class="notice notice-failed" role="alert">
          {failure}{' '}
          <button type="button" class="button button-small" onClick={retry}>
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
