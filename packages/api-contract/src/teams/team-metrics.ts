import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

const timestamp = Type.String({ ...DateTime('When it was taken'), deprecated: true })
const timestampUnix = Type.Integer({ description: 'When it was taken, in Unix seconds' })

/** One point of a team's series (control-plane.md 5.3). */
export const TeamMetric = Type.Object(
  {
    timestamp,
    timestampUnix,
    concurrentSandboxes: Type.Integer({ format: 'int32', description: 'Sandboxes at once' }),
    sandboxStartRate: Type.Number({ description: 'Sandboxes started per second' }),
  },
  { title: 'TeamMetric' },
)
export type TeamMetric = Static<typeof TeamMetric>

export const MaxTeamMetric = Type.Object({ timestamp, timestampUnix, value: Type.Number() }, { title: 'MaxTeamMetric' })
export type MaxTeamMetric = Static<typeof MaxTeamMetric>

const range = {
  start: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix seconds, inclusive. Default: 7 days before the end' })),
  end: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix seconds, inclusive. Default: now' })),
}

/** Query of `GET /teams/{teamID}/metrics`. */
export const TeamMetricsQuery = Type.Object(range)
export type TeamMetricsQuery = Static<typeof TeamMetricsQuery>

export type TeamMetricName = 'concurrent_sandboxes' | 'sandbox_start_rate'

/** Query of `GET /teams/{teamID}/metrics/max`. */
export const TeamMetricsMaxQuery = Type.Object({
  ...range,
  metric: Type.Unsafe<TeamMetricName>({ type: 'string', enum: ['concurrent_sandboxes', 'sandbox_start_rate'] }),
})
