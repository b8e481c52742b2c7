import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { partTexts } from '../texts/part-texts.ts'
import type { ActionCode } from './action-code.ts'
import { CopyCode } from './copy-code.tsx'
import { Dialog } from './dialog.tsx'
import '../styles/forms.css'

export interface FormDialogProps<Result> {
  readonly title: string
  readonly button: string
  readonly kind?: 'primary' | 'danger'
  readonly code?: ActionCode | undefined
  readonly onClose: () => void
  /** A failure is shown in the dialog, and what was typed stays. */
  readonly onSubmit: () => Promise<Result>
  /** What follows. Default: `onClose`. */
  readonly onDone?: (result: Result) => void
  readonly children: ComponentChildren
}

export function FormDialog<Result>(props: FormDialogProps<Result>) {
  const { title, button, kind = 'primary', code, onClose, onSubmit, onDone = onClose, children } = props
  const [isRunning, setRunning] = useState(false)
  const [failure, setFailure] = useState<string | undefined>(undefined)
  const submit = async (): Promise<void> => {
    if (isRunning) return
    setRunning(true)
    setFailure(undefined)
    try {
      onDone(await onSubmit())
    } catch (err) {
      setFailure((err as Error).message)
    } finally {
      setRunning(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {children}
        {failure !== undefined && (
          <p class="notice notice-failed" role="alert">
            {failure}
          </p>
        )}
        <div class="dialog-buttons">
          {code !== undefined && <CopyCode code={code} label={title} />}
          <button type="button" class="button" onClick={onClose}>
            {partTexts.cancel}
          </button>
          <button type="submit" class={`button button-${kind}`} disabled={isRunning} aria-busy={isRunning}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
