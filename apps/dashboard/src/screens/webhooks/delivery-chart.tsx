import { webhooksTexts as texts } from '../../texts/webhooks-texts.ts'
import { countAttempts, type WebhookStats } from './webhook-calls.ts'

const HEIGHT = 64
const BAR = 8
const GAP = 2

/** A bar for each bucket with attempts; the failed part is below. */
export function DeliveryChart({ stats }: { readonly stats: WebhookStats }) {
  const { buckets } = stats
  if (buckets.length === 0) return <p class="muted">{texts.noAttempts}</p>
  const { total, failed } = countAttempts(stats)
  const most = Math.max(...buckets.map((bucket) => bucket.total))
  const width = buckets.length * (BAR + GAP)
  return (
    <figure class="stack">
      <svg
        class="delivery-chart"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={texts.chart(total, failed)}
      >
        {buckets.map((bucket, index) => {
          const height = (bucket.total / most) * HEIGHT
          const bad = (bucket.failed / most) * HEIGHT
          return (
            <g key={bucket.timestampUnix}>
              <rect class="delivery-good" x={index * (BAR + GAP)} y={HEIGHT - height} width={BAR} height={height - bad} />
              <rect class="delivery-bad" x={index * (BAR + GAP)} y={HEIGHT - bad} width={BAR} height={bad} />
            </g>
          )
        })}
      </svg>
      <figcaption class="muted small">{texts.chart(total, failed)}</figcaption>
    </figure>
  )
}
