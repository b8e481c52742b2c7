export interface MeterProps {
  readonly label: string
  readonly used: number
  readonly of: number
}

const WARN = 0.8
const BAD = 0.95

/** A bar for a part of a whole. The numbers are beside it. */
export function Meter({ label, used, of }: MeterProps) {
  const part = of === 0 ? 0 : Math.min(1, used / of)
  const level = part >= BAD ? 'bad' : part >= WARN ? 'warn' : undefined
  return (
    <span class="meter" role="img" aria-label={`${label}: ${Math.round(part * 100)} %`} data-level={level}>
      <i style={{ width: `${part * 100}%` }} />
    </span>
  )
}
