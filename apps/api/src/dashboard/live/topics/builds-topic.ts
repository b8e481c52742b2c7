import type { BuildRow } from '@sandyard/dashboard-contract/templates'
import type { Database } from '@sandyard/db/database'
import { readBuildRows } from '../../operations/builds/read-builds.ts'
import { SharedTopic } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { digest } from './whole-source.ts'

const MAX_ROWS = 50
/** No notification is sent when a server takes a build from the queue, so the topic also reads the builds at this interval. */
const EVERY_MS = 10_000

/** `builds`: a patch has the rows that are new or changed. */
export function makeBuildsTopic(database: Database): MakeTopic {
  return ({ teamId, inTurn }) => {
    const shown = new Map<string, string>()
    return new SharedTopic(
      {
        everyMs: EVERY_MS,
        read: async () => ({ rows: (await readBuildRows(database.db, teamId, { limit: MAX_ROWS })).rows }),
        keep: ({ rows }: { rows: readonly BuildRow[] }) => {
          shown.clear()
          for (const row of rows) shown.set(row.buildId, digest(row))
          return shown
        },
        changes: (kept: ReadonlyMap<string, string>, { rows }) => {
          const changed = rows.filter((row) => kept.get(row.buildId) !== digest(row))
          return changed.length === 0 ? undefined : { rows: changed }
        },
        // Registrations, ends and tags are events of the team. `build_changed` names no team: builds of others must not wake it.
        hears: (change) =>
          (change.kind === 'event' && change.teamId === teamId && change.event.startsWith('template.')) ||
          (change.kind === 'build' && shown.has(change.id)),
      },
      inTurn,
    )
  }
}
