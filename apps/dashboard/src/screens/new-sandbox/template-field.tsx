import type { Template } from '@sandyard/api-contract/templates/template'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { wire } from '../../api/wire.ts'
import { newSandboxTexts as texts } from '../../texts/new-sandbox-texts.ts'
import '../../styles/forms.css'

const MOST = 200
const MOST_SHOWN = 6

export interface TemplateFieldProps {
  readonly value: string
  readonly onChange: (template: string) => void
}

/** Any name may be typed; those of the team and the server's own are offered. */
export function TemplateField({ value, onChange }: TemplateFieldProps) {
  const { value: names = [], failure } = useCall('names', readNames)
  return (
    <div class="field">
      <label for="template">{texts.template}</label>
      <input
        id="template"
        class="input mono"
        list="template-names"
        aria-describedby="template-hint"
        maxLength={256}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <datalist id="template-names">
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
      {names.length > 0 && (
        <div class="row">
          {names.slice(0, MOST_SHOWN).map((name) => (
            <button key={name} type="button" class="button button-small" aria-pressed={name === value} onClick={() => onChange(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
      <p id="template-hint" class="hint">
        {failure === undefined ? texts.templateHint : texts.templatesFailed(failure.message)}
      </p>
    </div>
  )
}

async function readNames(signal: AbortSignal): Promise<readonly string[]> {
  const [own, fixed] = await Promise.all([
    call('GET /templates', { query: { limit: MOST, sort: 'used', order: 'desc' }, signal }),
    wire<Template[]>('GET', '/default-templates', { signal }).then(
      ({ data }) => data,
      () => [],
    ),
  ])
  const ownNames = own.data.map(({ names, templateId }) => names[0] ?? templateId)
  const fixedNames = fixed.map(({ names, templateID }) => names[0] ?? templateID)
  return [...new Set([...ownNames, ...fixedNames])]
}
