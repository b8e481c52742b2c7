import { Icon } from '../../parts/icon.tsx'
import { newSandboxTexts as texts } from '../../texts/new-sandbox-texts.ts'
import type { Pair } from './new-sandbox-form.ts'
import '../../styles/forms.css'

export interface PairsFieldProps {
  readonly label: string
  readonly hint?: string
  readonly pairs: readonly Pair[]
  readonly onChange: (pairs: readonly Pair[]) => void
}

const MOST = 64

/** Lines of a name and a value. */
export function PairsField({ label, hint, pairs, onChange }: PairsFieldProps) {
  const set = (at: number, pair: Pair): void => onChange(pairs.map((other, index) => (index === at ? pair : other)))
  return (
    <fieldset class="pairs">
      <legend class="field-label">{label}</legend>
      {pairs.map(([name, value], at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a line is its place: names change while they are typed
        <div key={at} class="pairs-line">
          <input
            class="input mono"
            aria-label={`${label}: ${texts.name}`}
            placeholder={texts.name}
            maxLength={256}
            spellcheck={false}
            value={name}
            onInput={({ currentTarget }) => set(at, [currentTarget.value, value])}
          />
          <input
            class="input mono"
            aria-label={`${label}: ${texts.value}`}
            placeholder={texts.value}
            maxLength={8192}
            spellcheck={false}
            value={value}
            onInput={({ currentTarget }) => set(at, [name, currentTarget.value])}
          />
          <button
            type="button"
            class="button button-icon button-quiet"
            aria-label={texts.removePair(name)}
            onClick={() => onChange(pairs.filter((_, index) => index !== at))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div class="row">
        <button type="button" class="button button-small" disabled={pairs.length >= MOST} onClick={() => onChange([...pairs, ['', '']])}>
          <Icon name="plus" />
          {texts.add}
        </button>
        {hint !== undefined && <span class="muted small">{hint}</span>}
      </div>
    </fieldset>
  )
}
