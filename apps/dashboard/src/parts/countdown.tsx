import { countdownText } from './time-text.ts'
import { now } from './now.ts'

/** The time until an instant: `04:12`, `2:04:12`, and `now` when it is over. */
export function Countdown({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span>–</span>
  return (
    <time class="number" dateTime={at} title={at}>
      {countdownText(Date.parse(at) - now.value)}
    </time>
  )
}
