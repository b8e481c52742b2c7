import { useEffect } from 'preact/hooks'

/** Calls `reload` every `everyMs` while the page is seen and `isOn`. */
export function usePolled(reload: () => void, everyMs: number, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [reload, everyMs, isOn])
}
