import { newSandboxTexts as texts } from '../../texts/new-sandbox-texts.ts'
import type { NewSandboxForm } from './new-sandbox-form.ts'
import '../../styles/forms.css'

const KINDS = ['all', 'list', 'none'] as const

export interface NetworkFieldProps {
  readonly form: NewSandboxForm
  readonly onChange: (part: Partial<NewSandboxForm>) => void
}

export function NetworkField({ form, onChange }: NetworkFieldProps) {
  return (
    <fieldset class="field">
      <legend class="field-label">{texts.network}</legend>
      <div class="row">
        <span>{texts.internetLabel}</span>
        <div class="button-group">
          {KINDS.map((internet) => (
            <button
              key={internet}
              type="button"
              class="button"
              aria-pressed={form.internet === internet}
              onClick={() => onChange({ internet })}
            >
              {texts.internet[internet]}
            </button>
          ))}
        </div>
      </div>
      {form.internet === 'list' && (
        <div class="field">
          <label for="allow-out">{texts.allowOut}</label>
          <textarea
            id="allow-out"
            class="input"
            rows={4}
            maxLength={20_000}
            spellcheck={false}
            aria-describedby="allow-out-hint"
            value={form.allowOut}
            onInput={({ currentTarget }) => onChange({ allowOut: currentTarget.value })}
          />
          <p id="allow-out-hint" class="hint">
            {texts.allowOutHint}
          </p>
        </div>
      )}
      <label class="check">
        <input type="checkbox" checked={form.isPublic} onChange={({ currentTarget }) => onChange({ isPublic: currentTarget.checked })} />
        {texts.isPublic}
      </label>
      <label class="check">
        <input type="checkbox" checked={form.isSecure} onChange={({ currentTarget }) => onChange({ isSecure: currentTarget.checked })} />
        {texts.isSecure}
      </label>
    </fieldset>
  )
}
