import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import type { Tables } from '@sandyard/db/schema/tables'
import { isServerAlive } from '@sandyard/db/server-lease'
import { secondsAgo } from '@sandyard/db/statement-time'
import type { SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../../events/actor.ts'
import { killing } from '../end/end-sandbox.ts'
import type { InFlight } from '../lifecycle/in-flight.ts'
import { refOf } from '../lifecycle/lifecycle-parts.ts'
import { STALE_START_SECONDS } from '../sandbox-queries.ts'
import { changeState } from '../sandbox-state.ts'

/** Ages at which a row of this server is not one that it is just beginning. A start that is given up is not taken back, so it has more time. */
const LEFT_TRANSITION_SECONDS = 3
const LEFT_START_SECONDS = 30
/** Longer than a pause, a resume and a snapshot may take. */
const STALE_TRANSITION_SECONDS = 150

/** Another request or server may still run a removal that is younger: a second one would be wasted work. */
const STALE_KILL_SECONDS = 5
/** Cap of abandoned starts and ends in one pass. */
const ABANDONED_AT_ONCE = 1000

interface AbandonedParts {
  readonly database: Database
  readonly serverId: number
  readonly inFlight: InFlight
}

/**
 * Begins the end of starts that take too long, whose server is dead, or that this one does not work at. The rows are locked, so a start that succeeds at
 * this moment is kept.
 */
export async function giveUpStarts({ database, serverId, inFlight }: AbandonedParts): Promise<SandboxRef[]> {
  return database.transaction(async (tx) => {
    const rows = await tx
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation'])
      .where('state', '=', 'starting')
      .where((eb) =>
        eb.or([
          eb('state_changed_at', '<', secondsAgo(STALE_START_SECONDS)),
          eb.not(isServerAlive(sql.ref('sandbox.server_id'))),
          isLeft(eb, serverId, { inFlight, afterSeconds: LEFT_START_SECONDS }),
        ]),
      )
      .orderBy('state_changed_at')
      .limit(ABANDONED_AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute()
    const refs = rows.map(refOf)
    for (const ref of refs) await changeState(tx, ref, killing('create_abandoned', SERVER))
    return refs
  })
}

/**
 * Takes over pauses, resumes and snapshots that take too long, whose server is dead, or that this one does not work at. Of several servers one gets
 * each.
 */
export async function takeOverTransitions({ database, serverId, inFlight }: AbandonedParts): Promise<SandboxRef[]> {
  const rows = await database.db
    .updateTable('sandbox')
    .set({ server_id: serverId, state_changed_at: sql<Date>`clock_timestamp()` })
    .where('sandbox_id', 'in', (eb) =>
      eb
        .selectFrom('sandbox')
        .select('sandbox_id')
        .where('state', 'in', ['pausing', 'resuming', 'snapshotting'])
        .where((or) =>
          or.or([
            or('state_changed_at', '<', secondsAgo(STALE_TRANSITION_SECONDS)),
            or.not(isServerAlive(sql.ref('sandbox.server_id'))),
            isLeft(or, serverId, { inFlight, afterSeconds: LEFT_TRANSITION_SECONDS }),
          ]),
        )
        .orderBy('state_changed_at')
        .limit(ABANDONED_AT_ONCE)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['sandbox_id', 'incarnation'])
    .execute()
  return rows.map(refOf)
}

/** Ends that no request or server seems to finish any more. */
export async function listStaleEnds(db: Db): Promise<SandboxRef[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation'])
    .where('state', '=', 'killing')
    .where('state_changed_at', '<', secondsAgo(STALE_KILL_SECONDS))
    .orderBy('state_changed_at')
    .limit(ABANDONED_AT_ONCE)
    .execute()
  return rows.map(refOf)
}

/** A row of this server that says that it works at the sandbox, while it does not. */
function isLeft(
  eb: ExpressionBuilder<Tables, 'sandbox'>,
  serverId: number,
  { inFlight, afterSeconds }: { readonly inFlight: InFlight; readonly afterSeconds: number },
): Expression<SqlBool> {
  const held = inFlight.ids()
  return eb.and([
    eb('server_id', '=', serverId),
    eb('state_changed_at', '<', secondsAgo(afterSeconds)),
    ...(held.length > 0 ? [eb('sandbox_id', 'not in', held)] : []),
  ])
}
