import type { Overview } from '@sandyard/dashboard-contract/overview'
import { timeText } from '../../parts/time-text.ts'
import { overviewTexts as texts } from '../../texts/overview-texts.ts'
import { areaPath, niceTop } from './chart-path.ts'

const WIDTH = 600
const HEIGHT = 90

/** Sandboxes that run, as an area, and starts, as bars below it. */
export function RunningChart({ series }: Pick<Overview, 'series'>) {
  const most = Math.max(0, ...series.map(({ running }) => running))
  const starts = series.map((bucket) => bucket.starts)
  const top = niceTop(most)
  const topStarts = Math.max(1, ...starts)
  const step = WIDTH / Math.max(1, series.length)
  const label = texts.chartText(
    most,
    starts.reduce((sum, count) => sum + count, 0),
  )
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {series.map(({ at, starts }, index) => (
          <rect
            key={at}
            class="chart-starts"
            x={index * step + step * 0.15}
            width={step * 0.7}
            y={HEIGHT - (starts / topStarts) * HEIGHT * 0.3}
            height={(starts / topStarts) * HEIGHT * 0.3}
          />
        ))}
        <path
          class="chart-area"
          d={areaPath(
            series.map(({ running }) => running / top),
            { width: WIDTH, height: HEIGHT },
          )}
        />
      </svg>
      <span class="chart-top muted small">{top}</span>
      <figcaption class="muted small">
        <span>{series[0] !== undefined && timeText(series[0].at)}</span>
        <span>{label}</span>
        <span>{series.length > 0 && timeText(series.at(-1)?.at ?? '')}</span>
      </figcaption>
    </figure>
  )
}
