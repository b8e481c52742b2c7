import type { ActionCode } from './action-button.tsx'
import { copyText } from './copy-text.ts'
import { toast } from './toasts.tsx'

const NAMES: readonly (readonly [keyof ActionCode, string])[] = [
  ['cli', 'sandyard'],
  ['javascript', 'JavaScript'],
  ['python', 'Python'],
  ['curl', 'curl'],
]

export interface CopyCodeProps {
  readonly code: ActionCode
  /** What the code does, for the label. */
  readonly label: string
}

/** The forms of an action to copy. */
export function CopyCode({ code, label }: CopyCodeProps) {
  const copy = async (text: string): Promise<void> => {
    const isCopied = await copyText(text)
    toast(isCopied ? 'done' : 'failed', isCopied ? 'Copied.' : 'The browser does not allow to copy.')
  }
  return (
    <span class="copy-code" role="group" aria-label={`Copy ${label} as`}>
      {NAMES.map(([name, title]) => {
        const text = code[name]
        return (
          text !== undefined && (
            <button key={name} type="button" class="button button-small" onClick={() => void copy(text)}>
              {title}
            </button>
          )
        )
      })}
    </span>
  )
}
