import { copyText } from '../../parts/copy-text.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { toast } from '../../parts/toasts.tsx'
import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'

export interface SecretDialogProps {
  readonly name: string
  readonly secret: string
  readonly onClose: () => void
}

export function SecretDialog({ name, secret, onClose }: SecretDialogProps) {
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(secret)
    toast(isCopied ? 'done' : 'failed', isCopied ? texts.copied : texts.notCopied)
  }
  return (
    <Dialog title={texts.secretTitle(name)} onClose={onClose}>
      <div class="stack">
        <p>{texts.secretOnce}</p>
        <code class="code-block webhook-secret">{secret}</code>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={() => void copy()}>
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
