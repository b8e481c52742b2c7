import { durationText } from '../../parts/time-text.ts'
import { newSandboxTexts as texts } from '../../texts/new-sandbox-texts.ts'
import { TIME_UNITS, timeoutSeconds, type NewSandboxForm, type TimeUnit } from './new-sandbox-form.ts'
import '../../styles/forms.css'

export interface LifetimeFieldProps {
  readonly form: NewSandboxForm
  readonly maxSeconds: number
  readonly onChange: (part: Partial<NewSandboxForm>) => void
}

/** How long it lives, and what happens then. */
export function LifetimeField({ form, maxSeconds, onChange }: LifetimeFieldProps) {
  const seconds = timeoutSeconds(form)
  const isWrong = !(seconds >= 1 && seconds <= maxSeconds)
  return (
    <>
      <div class="field">
        <label for="time">{texts.timeout}</label>
        <div class="row">
          <input
            id="time"
            class="input time"
            type="number"
            min="0"
            step="any"
            aria-invalid={isWrong}
            value={Number.isFinite(form.time) ? form.time : ''}
            onInput={({ currentTarget }) => onChange({ time: currentTarget.valueAsNumber })}
          />
          <select
            class="input"
            aria-label={texts.timeout}
            value={form.unit}
            onChange={({ currentTarget }) => onChange({ unit: currentTarget.value as TimeUnit })}
          >
            {Object.keys(TIME_UNITS).map((unit) => (
              <option key={unit} value={unit}>
                {texts.timeoutUnits[unit as TimeUnit]}
              </option>
            ))}
          </select>
          {isWrong && (
            <p class="wrong" role="status">
              {texts.timeoutWrong(durationText(maxSeconds * 1000))}
            </p>
          )}
        </div>
      </div>
      <fieldset class="field">
        <legend class="field-label">{texts.atEnd}</legend>
        <div class="button-group">
          {(['kill', 'pause'] as const).map((atEnd) => (
            <button key={atEnd} type="button" class="button" aria-pressed={form.atEnd === atEnd} onClick={() => onChange({ atEnd })}>
              {texts[atEnd]}
            </button>
          ))}
        </div>
        {form.atEnd === 'pause' && (
          <div class="row">
            <label class="check">
              <input
                type="checkbox"
                checked={form.keepMemory}
                onChange={({ currentTarget }) => onChange({ keepMemory: currentTarget.checked })}
              />
              {texts.keepMemory}
            </label>
            <label class="check">
              <input
                type="checkbox"
                checked={form.autoResume && form.keepMemory}
                disabled={!form.keepMemory}
                onChange={({ currentTarget }) => onChange({ autoResume: currentTarget.checked })}
              />
              {texts.autoResume}
            </label>
          </div>
        )}
      </fieldset>
    </>
  )
}
