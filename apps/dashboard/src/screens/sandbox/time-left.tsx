import { useEffect, useState } from 'preact/hooks'
import { durationText, timeText } from '../../parts/time-text.ts'
import { sandboxTexts as texts } from '../../texts/sandbox-texts.ts'

/** The time until `at`, which counts down. Not spoken: it changes each second. */
export function TimeLeft({ at }: { readonly at: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const leftMs = Date.parse(at) - now
  return (
    <time dateTime={at} title={`${timeText(at)} (${at})`} class={leftMs < 60_000 ? 'time-left time-soon' : 'time-left'}>
      {leftMs <= 0 ? texts.overdue : durationText(Math.ceil(leftMs / 1000) * 1000)}
    </time>
  )
}
