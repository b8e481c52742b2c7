import { useEffect, useState } from 'preact/hooks'
import '../styles/lists.css'
import '../styles/forms.css'

const PAUSE_MS = 250

export interface SearchBoxProps {
  readonly label: string
  readonly value: string
  readonly onSearch: (text: string) => void
}

/** Searches when the typing pauses. `/` goes to it. */
export function SearchBox({ label, value, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(value)
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === value) return undefined
    const timer = setTimeout(() => onSearch(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
    // Only typing starts a search; `onSearch` is another function in each render.
  }, [text])
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
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  )
}
