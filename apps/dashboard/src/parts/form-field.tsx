import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import '../styles/forms.css'

export interface FormFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: string
  readonly type?: 'text' | 'password' | 'number' | 'url' | 'email' | 'date' | 'datetime-local'
  readonly isRequired?: boolean
  readonly maxLength?: number
  readonly pattern?: string
  readonly isLong?: boolean
}

/** An input with its label and a hint. */
export function FormField({
  label,
  value,
  onChange,
  hint,
  type = 'text',
  isRequired = false,
  isLong = false,
  maxLength,
  pattern,
}: FormFieldProps) {
  const id = useId()
  const common = {
    id,
    class: 'input',
    value,
    required: isRequired,
    autocomplete: 'off',
    spellcheck: false,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
    ...(maxLength !== undefined && { maxLength }),
  }
  const input = { ...common, type, ...(pattern !== undefined && { pattern }) }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea {...common} onInput={({ currentTarget }) => onChange(currentTarget.value)} />
      ) : (
        <input
          {...(input as JSX.IntrinsicElements['input'])}
          onInput={({ currentTarget }: { currentTarget: HTMLInputElement }) => onChange(currentTarget.value)}
        />
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
