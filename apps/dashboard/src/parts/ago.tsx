import { now } from './now.ts'
import { agoText, timeText } from './time-text.ts'

/** How long ago something was: `12 s ago`, `3 h ago`. Hover shows the time, local and UTC. */
export function Ago({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span>–</span>
  return (
    <time class="nowrap" dateTime={at} title={`${timeText(at)} · ${at}`}>
      {agoText(now.value - Date.parse(at))}
    </time>
  )
}
