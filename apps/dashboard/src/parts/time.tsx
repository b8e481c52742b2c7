import { timeText } from './time-text.ts'

/** A time as local text, with UTC on hover. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span>–</span>
  return (
    <time dateTime={at} title={at}>
      {timeText(at)}
    </time>
  )
}
