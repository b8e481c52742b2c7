import type { BuildRow } from '@sandyard/dashboard-contract/templates'
import { durationText } from '../../parts/time-text.ts'

/** How long it took or has taken until `now`; undefined before its start. */
export function buildDuration({ startedAt, finishedAt }: Pick<BuildRow, 'startedAt' | 'finishedAt'>, now: number): string | undefined {
  if (startedAt === null) return undefined
  const end = finishedAt === null ? now : Date.parse(finishedAt)
  return durationText(Math.max(0, end - Date.parse(startedAt)))
}
