import { copyAndSay } from './copy-and-say.ts'
import { Icon } from './icon.tsx'

/** A small button beside an id or a value. `label`: "Copy the id". */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <button
      type="button"
      class="button button-small button-icon button-quiet"
      aria-label={label}
      title={label}
      onClick={() => void copyAndSay(text)}
    >
      <Icon name="copy" />
    </button>
  )
}
