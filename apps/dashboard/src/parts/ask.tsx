import { signal } from '@preact/signals'
import { frameTexts } from '../texts/frame-texts.ts'
import { CopyCode } from './copy-code.tsx'
import { Dialog } from './dialog.tsx'
import type { ActionCode } from './action-code.ts'

export interface Question {
  readonly title: string
  readonly text: string
  /** The verb, for example "Kill". */
  readonly button: string
  readonly kind?: 'primary' | 'danger'
  /** What it would do, in code. */
  readonly code?: ActionCode | undefined
}

const asked = signal<(Question & { readonly answer: (isYes: boolean) => void }) | undefined>(undefined)

/** Asks in a dialog of the frame, so that the question stays when the row of its button goes. */
export function ask(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (isYes) => {
        asked.value = undefined
        resolve(isYes)
      },
    }
  })
}

export function AskDialog() {
  const question = asked.value
  if (question === undefined) return null
  const { title, text, button, kind = 'danger', code, answer } = question
  return (
    <Dialog key={title} title={title} onClose={() => answer(false)}>
      <p>{text}</p>
      <div class="dialog-buttons">
        {code !== undefined && <CopyCode code={code} label={title} />}
        <button type="button" class="button" onClick={() => answer(false)}>
          {frameTexts.cancel}
        </button>
        <button type="button" class={`button button-${kind}`} onClick={() => answer(true)}>
          {button}
        </button>
      </div>
    </Dialog>
  )
}
