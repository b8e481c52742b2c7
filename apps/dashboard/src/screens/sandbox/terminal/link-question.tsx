import { Dialog } from '../../../parts/dialog.tsx'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'

export function LinkQuestion({ url, onClose }: { readonly url: string; readonly onClose: () => void }) {
  return (
    <Dialog title={texts.linkTitle} onClose={onClose}>
      <p>{texts.linkText}</p>
      <p class="mono link-target">{url}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {texts.cancel}
        </button>
        <a class="button button-primary" href={url} target="_blank" rel="noopener noreferrer" onClick={() => setTimeout(onClose)}>
          {texts.openLink}
        </a>
      </div>
    </Dialog>
  )
}
