import type { Usage } from '@sandyard/dashboard-contract/usage'
import { dayText, timeText } from '../../parts/time-text.ts'
import { hoursText } from './hours-text.ts'
import { usageTexts as texts } from '../../texts/usage-texts.ts'

const WIDTH = 1000
const HEIGHT = 120

/** A bar for each bucket. The numbers are in the titles of the bars and in the table. */
export function UsageChart({ series, isByDay }: { readonly series: Usage['series']; readonly isByDay: boolean }) {
  const at = isByDay ? dayText : timeText
  const most = Math.max(0, ...series.map(({ sandboxHours }) => sandboxHours))
  const [first] = series
  const last = series.at(-1)
  if (first === undefined || last === undefined || most === 0) return <p class="muted">{texts.empty}</p>
  const step = WIDTH / series.length
  return (
    <figure>
      <svg class="usage-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={texts.chart}>
        {series.map(({ at: start, sandboxHours }, index) => {
          const height = (sandboxHours / most) * HEIGHT
          return (
            <rect key={start} x={index * step + step * 0.1} y={HEIGHT - height} width={step * 0.8} height={height}>
              <title>{`${at(start)}: ${hoursText(sandboxHours)} h`}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption class="usage-axis">
        <span>{at(first.at)}</span>
        <span>{texts.most(hoursText(most))}</span>
        <span>{at(last.at)}</span>
      </figcaption>
    </figure>
  )
}
