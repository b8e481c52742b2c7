import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toast } from './toasts.tsx'

/** The forms of an action in code, for `CopyCode`. */
export interface ActionCode {
  readonly cli?: string
  readonly javascript?: string
  readonly python?: string
  readonly curl?: string
}

export interface ActionButtonProps {
  readonly children: ComponentChildren
  /** What is said when it was done; undefined: nothing. */
  readonly done?: string | undefined
  /** Asked in a dialog first. */
  readonly confirm?: { readonly title: string; readonly text: string; readonly button: string } | undefined
  readonly kind?: 'primary' | 'danger' | 'plain'
  readonly disabled?: boolean
  readonly code?: ActionCode | undefined
  readonly run: () => Promise<unknown>
}

/** A button that runs an action once at a time and says how it ended: a click is never lost without a word. */
export function ActionButton({ children, done, kind = 'plain', disabled = false, run }: ActionButtonProps) {
  const [isRunning, setRunning] = useState(false)
  const click = async (): Promise<void> => {
    setRunning(true)
    try {
      await run()
      if (done !== undefined) toast('done', done)
    } catch (err) {
      toast('failed', (err as Error).message)
    } finally {
      setRunning(false)
    }
  }
  return (
    <button
      type="button"
      class={`button button-${kind}`}
      disabled={disabled || isRunning}
      aria-busy={isRunning}
      onClick={() => void click()}
    >
      {children}
    </button>
  )
}
