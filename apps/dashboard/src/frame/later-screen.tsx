import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { frameTexts } from '../texts/frame-texts.ts'

/** Stands for a part that could not be loaded, and becomes that part when it can. */
export function laterScreen<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function LaterScreen(props: Props) {
    const [, setLoads] = useState(0)
    const tryAgain = (): void => {
      load().then(
        (part) => {
          loaded = part
          setLoads((former) => former + 1)
        },
        () => undefined,
      )
    }
    useEffect(() => {
      addEventListener('online', tryAgain)
      return () => removeEventListener('online', tryAgain)
    }, [])
    if (loaded !== undefined) {
      const Part = loaded as ComponentType<object>
      return <Part {...(props as object)} />
    }
    return (
      <div class="notice notice-failed" role="alert">
        <p class="grow">{frameTexts.partFailed}</p>
        <button type="button" class="button" onClick={tryAgain}>
          {frameTexts.tryAgain}
        </button>
      </div>
    )
  }
}
