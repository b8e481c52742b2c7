import '../../styles/forms.css'
export interface DayFieldProps {
  readonly label: string
  /** `2026-03-01`, or empty. */
  readonly value: string
  readonly onChange: (value: string) => void
}

export function DayField({ label, value, onChange }: DayFieldProps) {
  return (
    <label class="day-field">
      <span>{label}</span>
      <input type="date" class="input" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
    </label>
  )
}
