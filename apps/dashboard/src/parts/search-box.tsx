import { useEffect, useRef, useState } from 'preact/hooks'
import '../styles/lists.css'

const PAUSE_MS = 250

export interface SearchBoxProps {
  readonly label: string
  readonly value: string
  readonly onSearch: (text: string) => void
}

/** Searches when the typing pauses. `/` goes to it. */
export function SearchBox({ label, value, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string): void => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onSearch(next.trim()), PAUSE_MS)
  }
  return (
    <input
      type="search"
      class="input search-box"
      aria-label={label}
      placeholder={label}
      data-search
      value={text}
      maxLength={256}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}
