import { copyAndSay } from '../../parts/copy-and-say.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'

export interface SecretDialogProps {
  readonly name: string
  readonly secret: string
  readonly onClose: () => void
}

export function SecretDialog({ name, secret, onClose }: SecretDialogProps) {
  return (
    <Dialog title={texts.secretTitle(name)} onClose={onClose}>
      <div class="stack">
        <p>{texts.secretOnce}</p>
        <code class="code-block webhook-secret">{secret}</code>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={() => void copyAndSay(secret)}>
            {texts.copy}
          </button>
          <button type="button" class="button button-primary" onClick={onClose}>
            {texts.done}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
