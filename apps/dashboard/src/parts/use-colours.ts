import { useEffect, useState } from 'preact/hooks'

/** Tokens of styles/tokens.css as `rgb(...)`, for canvases and libraries; read again when the scheme changes. */
export function useColours<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const [colours, setColours] = useState(() => readColours(names))
  useEffect(() => {
    const change = (): void => setColours(readColours(names))
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', change)
    const observer = new MutationObserver(change)
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => {
      scheme.removeEventListener('change', change)
      observer.disconnect()
    }
  }, [names])
  return colours
}

function readColours<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const probe = document.createElement('span')
  document.body.append(probe)
  const colours = names.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color] as const
  })
  probe.remove()
  return Object.fromEntries(colours) as Record<Name, string>
}
