import '../styles/forms.css'
export interface SelectBoxProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onSelect: (value: string) => void
}

export function SelectBox({ label, value, options, onSelect }: SelectBoxProps) {
  return (
    <select class="input" aria-label={label} value={value} onChange={({ currentTarget }) => onSelect(currentTarget.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option} selected={option === value}>
          {text}
        </option>
      ))}
    </select>
  )
}
