type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'muted'

/** States of sandboxes, builds, checks and deliveries. */
const TONES: Readonly<Record<string, Tone>> = {
  running: 'good',
  ready: 'good',
  ok: 'good',
  done: 'good',
  success: 'good',
  paused: 'accent',
  building: 'accent',
  waiting: 'muted',
  starting: 'accent',
  ending: 'warn',
  warn: 'warn',
  skipped: 'muted',
  ended: 'muted',
  failed: 'bad',
  fail: 'bad',
}

/** A state as a word with a colour; `tone` for words that are not in the list. */
export function StateBadge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span class={`badge badge-${tone ?? TONES[state] ?? 'muted'}`}>{state}</span>
}
