/** Copies a text. On plain http off localhost there is no clipboard API, so a selection is copied. Returns whether it was copied. */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Not allowed: the other way may be.
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'off-screen'
  const focused = document.activeElement
  // Inside an open dialog nothing outside can be selected.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
