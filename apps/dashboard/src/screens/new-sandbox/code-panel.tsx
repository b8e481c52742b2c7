import { useState } from 'preact/hooks'
import type { ActionCode } from '../../parts/action-code.ts'
import { copyAndSay } from '../../parts/copy-and-say.ts'
import { CODE_NAMES } from '../../parts/copy-code.tsx'
import { Icon } from '../../parts/icon.tsx'
import { newSandboxTexts as texts } from '../../texts/new-sandbox-texts.ts'
import '../../styles/forms.css'

/** The forms of an action in code, one at a time. */
export function CodePanel({ code }: { readonly code: ActionCode }) {
  const names = CODE_NAMES.filter(([name]) => code[name] !== undefined)
  const [chosen, setChosen] = useState<keyof ActionCode>('javascript')
  const text = code[chosen] ?? ''
  return (
    <section class="panel code-panel" aria-label={texts.code}>
      <div class="panel-head">
        <h2>{texts.code}</h2>
        <div class="actions">
          <div class="button-group">
            {names.map(([name, title]) => (
              <button key={name} type="button" class="button button-small" aria-pressed={chosen === name} onClick={() => setChosen(name)}>
                {title}
              </button>
            ))}
          </div>
          <button type="button" class="button button-small" onClick={() => void copyAndSay(text)}>
            <Icon name="copy" />
            {texts.copy}
          </button>
        </div>
      </div>
      <div class="panel-body">
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keys */}
        <pre class="code-block" tabIndex={0} aria-label={texts.code}>
          {text}
        </pre>
        <p class="muted small code-hint">{texts.codeHint}</p>
      </div>
    </section>
  )
}
