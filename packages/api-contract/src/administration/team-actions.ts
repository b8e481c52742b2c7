import { Type } from 'typebox'

/** Answer of `POST /admin/teams/{teamID}/sandboxes/kill` (control-plane.md 13.2). */
export const KilledSandboxes = Type.Object(
  {
    killedCount: Type.Integer({ description: 'Sandboxes that were killed' }),
    failedCount: Type.Integer({ description: 'Sandboxes that still run' }),
  },
  { title: 'AdminSandboxKillResult' },
)

/** Answer of `POST /admin/teams/{teamID}/builds/cancel` (control-plane.md 13.2). */
export const CancelledBuilds = Type.Object(
  {
    cancelledCount: Type.Integer({ description: 'Builds that were cancelled' }),
    failedCount: Type.Integer({ description: 'Builds that could not be cancelled' }),
  },
  { title: 'AdminBuildCancelResult' },
)

/** Answer of `GET /admin/sandboxes/running-counts`: teams with none are absent. */
export const RunningCounts = Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
  description: 'Running sandboxes by the id of their team',
})
