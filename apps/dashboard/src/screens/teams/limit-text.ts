import type { LimitUse } from '@sandyard/dashboard-contract/teams'
import { sizeText } from '../../parts/size-text.ts'
import { durationText } from '../../parts/time-text.ts'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'

const MIB = 1024 ** 2

export function limitName({ name }: Pick<LimitUse, 'name'>): string {
  return texts.limitNames[name] ?? name
}

/** A value in the unit of its limit, for people. */
export function amountText(value: number, unit: LimitUse['unit']): string {
  if (unit === 'seconds') return durationText(value * 1000)
  if (unit === 'mib') return sizeText(value * MIB)
  return unit === 'bytes' ? sizeText(value) : String(value)
}
