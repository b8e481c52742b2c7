import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { durationText } from '../../../parts/time-text.ts'
import '../../../styles/sandbox-terminal.css'
import { timelineTexts as texts } from '../../../texts/sandbox-timeline-texts.ts'
import { mayChange } from '../sandbox-tab.ts'
import { useTerminalTheme } from '../terminal/terminal-theme.ts'
import { useTerminal } from '../terminal/use-terminal.ts'
import { eventAfter, readAsciicast, sizeOf, type Cast } from './read-asciicast.ts'
import '../../../styles/forms.css'

const MOST_PAUSE_S = 2
const SPEEDS = [0.5, 1, 2, 4, 8] as const
const FRAME_MS = 50

interface Props {
  readonly sandboxId: string
  readonly recordingId: string
  readonly onClose: () => void
  readonly onRemoved: () => void
}

/** Plays a recording of a terminal. */
export function Replay({ sandboxId, recordingId, onClose, onRemoved }: Props) {
  const [isShort, setShort] = useState(true)
  const params = { sandboxId, recordingId }
  const { value, failure, reload } = useCall(recordingId, async (signal) => {
    const blob = await call('GET /sandboxes/{sandboxId}/recordings/{recordingId}', { params, signal })
    const text = await blob.text()
    return { whole: readAsciicast(text), short: readAsciicast(text, MOST_PAUSE_S) }
  })
  const remove = async (): Promise<void> => {
    await call('DELETE /sandboxes/{sandboxId}/recordings/{recordingId}', { params })
    onRemoved()
    onClose()
  }
  return (
    <Dialog title={texts.replayTitle} isWide onClose={onClose}>
      <FailureNotice failure={failure} onRetry={reload} />
      {value !== undefined && <Player key={String(isShort)} cast={isShort ? value.short : value.whole} />}
      <div class="dialog-buttons">
        <label class="check grow">
          <input type="checkbox" checked={isShort} onChange={(event) => setShort(event.currentTarget.checked)} />
          {texts.skipPauses}
        </label>
        {mayChange() && (
          <ActionButton
            kind="danger"
            done={texts.removed}
            confirm={{ title: texts.remove, text: texts.removeText, button: texts.remove }}
            run={remove}
          >
            {texts.remove}
          </ActionButton>
        )}
      </div>
    </Dialog>
  )
}

const noLinks = (): void => undefined

function Player({ cast }: { readonly cast: Cast }) {
  const frame = useRef<HTMLDivElement | null>(null)
  const theme = useTerminalTheme()
  const parts = useTerminal(frame, { theme, isForScreenReaders: false, isReadOnly: true, onLink: noLinks, size: cast })
  const [isPlaying, setPlaying] = useState(true)
  const [speed, setSpeed] = useState(1)
  const [at, setAt] = useState(0)
  const shownRef = useRef(0)

  useEffect(() => {
    if (parts === undefined) return
    const until = eventAfter(cast.events, at)
    if (until < shownRef.current) {
      parts.terminal.reset()
      parts.terminal.resize(cast.cols, cast.rows)
      shownRef.current = 0
    }
    let output = ''
    for (const { kind, data } of cast.events.slice(shownRef.current, until)) {
      const size = kind === 'resize' ? sizeOf(data) : undefined
      if (kind === 'output') output += data
      else if (size !== undefined) {
        parts.terminal.write(output, () => parts.terminal.resize(size.cols, size.rows))
        output = ''
      }
    }
    parts.terminal.write(output)
    shownRef.current = until
  }, [parts, at, cast])

  useEffect(() => {
    if (!isPlaying) return undefined
    let former = performance.now()
    const timer = setInterval(() => {
      const now = performance.now()
      const passed = ((now - former) / 1000) * speed
      former = now
      setAt((last) => Math.min(cast.durationS, last + passed))
    }, FRAME_MS)
    return () => clearInterval(timer)
  }, [isPlaying, speed, cast])
  const isOver = at >= cast.durationS
  useEffect(() => {
    if (isOver) setPlaying(false)
  }, [isOver])

  return (
    <div class="player">
      <div ref={frame} class="player-frame" role="group" aria-label={texts.replayTitle} />
      <div class="toolbar">
        <button
          type="button"
          class="button"
          onClick={() => {
            if (isOver) setAt(0)
            setPlaying(!isPlaying)
          }}
        >
          {isPlaying ? texts.pause : texts.play}
        </button>
        <input
          type="range"
          class="grow"
          aria-label={texts.position}
          min={0}
          max={cast.durationS}
          step="any"
          value={at}
          onInput={(event) => {
            setPlaying(false)
            setAt(event.currentTarget.valueAsNumber)
          }}
        />
        <span class="number muted">
          {durationText(at * 1000)} / {durationText(cast.durationS * 1000)}
        </span>
        <select class="input" aria-label={texts.speed} value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
          {SPEEDS.map((value) => (
            <option key={value} value={value}>
              {value}×
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}
