import { LIVE_BACK_OFF_MS } from '@sandyard/dashboard-contract/limits'

/** The pause before attempt `attempt` (from 0): doubles from 0.5 s to 15 s, of which the upper half is random so that tabs do not come back together. */
export function backOffMs(attempt: number, random: number = Math.random()): number {
  const { first, most } = LIVE_BACK_OFF_MS
  const whole = Math.min(most, first * 2 ** Math.min(attempt, 16))
  return Math.round(whole * (0.5 + random / 2))
}
