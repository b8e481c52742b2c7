import { Dialog } from '../parts/dialog.tsx'
import { paletteTexts } from '../texts/palette-texts.ts'
import { isKeysOpen } from './palette-state.ts'
import '../styles/details.css'

export function KeysDialog() {
  return (
    <Dialog title={paletteTexts.keysTitle} onClose={() => (isKeysOpen.value = false)}>
      <dl class="facts">
        {paletteTexts.keys.map(([key, text]) => (
          <>
            <dt key={key}>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  )
}
