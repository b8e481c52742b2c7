import { useLayoutEffect, useRef } from 'preact/hooks'

export interface MeterProps {
  /** 0 to 1; more is shown as full. */
  readonly share: number
  /** For people who do not see it; undefined: there is a text beside it that says the same. */
  readonly label?: string
  /** Full is good: no colours of a warning. */
  readonly isProgress?: boolean
}

const WARN = 0.75
const BAD = 0.92

/** A small bar. The width is set as a property: the policy forbids style attributes. */
export function Meter({ share, label, isProgress = false }: MeterProps) {
  const bar = useRef<HTMLElement>(null)
  const width = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0))
  useLayoutEffect(() => {
    bar.current?.style.setProperty('width', `${(width * 100).toFixed(1)}%`)
  }, [width])
  const level = isProgress ? 'good' : width >= BAD ? 'bad' : width >= WARN ? 'warn' : 'good'
  return (
    <span
      class="meter"
      data-level={level}
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined}
    >
      <i ref={bar} />
    </span>
  )
}
