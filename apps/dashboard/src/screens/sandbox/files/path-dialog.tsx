import { useState } from 'preact/hooks'
import type { ActionCode } from '../../../parts/action-code.ts'
import { CopyCode } from '../../../parts/copy-code.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { runAction } from '../../../parts/run-action.ts'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { cleanPath } from './file-paths.ts'
import '../../../styles/forms.css'

export interface PathQuestion {
  readonly title: string
  readonly button: string
  readonly path: string
  readonly run: (path: string) => Promise<unknown>
  readonly codeOf: (path: string) => ActionCode
}

/** Asks for an absolute path, then does something with it. */
export function PathDialog({ title, button, path, run, codeOf, onClose }: PathQuestion & { readonly onClose: () => void }) {
  const [text, setText] = useState(path)
  const clean = cleanPath(text)
  const submit = async (): Promise<void> => {
    if (clean === undefined || clean === '/') return
    if (await runAction({ label: title, run: () => run(clean) })) onClose()
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
        <label class="field">
          <span class="field-label">{texts.path}</span>
          <input
            class="input mono"
            value={text}
            maxLength={4096}
            aria-invalid={clean === undefined}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div class="dialog-buttons">
          {clean !== undefined && clean !== '/' && <CopyCode code={codeOf(clean)} label={title} />}
          <button type="button" class="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class="button button-primary" disabled={clean === undefined || clean === '/'}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
