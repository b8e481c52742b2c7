import { signal, type ReadonlySignal } from '@preact/signals'

const TICK_MS = 1000
const value = signal(Date.now())

/** Unix milliseconds, once a second while the tab is seen. Read `now.value` in a small component of its own: it renders with each tick. */
export const now: ReadonlySignal<number> = value

setInterval(() => {
  if (document.visibilityState === 'visible') value.value = Date.now()
}, TICK_MS)
