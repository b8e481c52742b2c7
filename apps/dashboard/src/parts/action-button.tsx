import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ActionCode } from './action-code.ts'
import { CopyCode } from './copy-code.tsx'
import { runAction } from './run-action.ts'

export type { ActionCode } from './action-code.ts'

export interface ActionButtonProps {
  readonly children: ComponentChildren
  /** What the action is called in messages; default: the text of the button. */
  readonly label?: string
  /** What is said when it was done; undefined: nothing. */
  readonly done?: string | undefined
  /** Asked in a dialog first. */
  readonly confirm?: { readonly title: string; readonly text: string; readonly button: string } | undefined
  readonly kind?: 'primary' | 'danger' | 'plain'
  readonly isSmall?: boolean
  readonly disabled?: boolean
  /** Why it is disabled, or more about it. */
  readonly title?: string | undefined
  /** Shown as a menu beside the button. */
  readonly code?: ActionCode | undefined
  /** Doing it twice is as doing it once: without an answer it is tried again by itself when the server is back. */
  readonly isRepeatable?: boolean
  readonly run: () => Promise<unknown>
}

/** A button that runs an action once at a time and says how it ended: a click is never lost without a word. */
export function ActionButton(props: ActionButtonProps) {
  const { children, label, done, confirm, kind = 'plain', isSmall = false, disabled = false, title, code, isRepeatable, run } = props
  const [isRunning, setRunning] = useState(false)
  const name = label ?? (typeof children === 'string' ? children : '')
  const size = isSmall ? ' button-small' : ''
  const click = async (): Promise<void> => {
    setRunning(true)
    try {
      await runAction({
        label: name,
        done,
        isRepeatable,
        run,
        confirm: confirm && { ...confirm, kind: kind === 'danger' ? kind : 'primary', code },
      })
    } finally {
      setRunning(false)
    }
  }
  const button = (
    <button
      type="button"
      class={`button button-${kind}${size}`}
      disabled={disabled || isRunning}
      aria-busy={isRunning}
      title={title}
      onClick={() => void click()}
    >
      {isRunning && <span class="spinner" />}
      {children}
    </button>
  )
  if (code === undefined) return button
  return (
    <span class="button-group">
      {button}
      <CopyCode code={code} label={name} isSmall={isSmall} isIcon />
    </span>
  )
}
