import type { SnapshotInfo } from '@sandyard/api-contract/sandboxes/snapshot'
import { randomId } from '@sandyard/kit/ids/ids'
import { readBuildName } from '../builds/registration/build-name.ts'
import type { Actor } from '../events/actor.ts'
import { inProgress } from '../idempotency/idempotency-errors.ts'
import { RememberedAnswer, type IdempotentOperation } from '../idempotency/remembered-answer.ts'
import type { LifecycleParts } from '../sandboxes/lifecycle/lifecycle-parts.ts'
import { checkSnapshots } from '../teams/kept-counts.ts'
import type { Team } from '../teams/team.ts'
import { DEFAULT_TAG } from '../templates/template-reference.ts'
import { capture } from './capture.ts'
import { getSnapshotSource, inTransition } from './snapshot-source.ts'
import { storeSnapshot } from './store-snapshot.ts'
import { toSnapshotInfo } from './snapshot-view.ts'

export interface SnapshotWish {
  readonly givenId: string
  /** `[namespace/]alias[:tag]`; undefined for a snapshot without a name. */
  readonly name: string | undefined
  readonly actor: Actor
  readonly userId: string | undefined
  readonly operation: IdempotentOperation
}

const NAME_LENGTH = 20

/**
 * Stores the files of a running sandbox as a template (control-plane.md 7.1). A used name gets another build, and its tag moves.
 *
 * @throws AppError with the texts of control-plane.md 7.1; `resource_exhausted` at the limit of snapshots
 */
export async function createSnapshot(parts: LifecycleParts, team: Team, wish: SnapshotWish): Promise<SnapshotInfo> {
  const { givenId, actor, userId, operation } = wish
  const once =
    operation.idempotent && new RememberedAnswer<SnapshotInfo>({ ...operation, ...parts, ownerId: team.id }, operation.idempotent)
  const remembered = await once?.find(parts.database.db)
  if (remembered !== undefined) return remembered
  const name = wish.name === undefined ? undefined : readBuildName(team, wish.name)
  const row = await getSnapshotSource(parts, team.id, { givenId, doing: 'snapshotted' })
  // Without it each refusal would cost the engine a commit.
  await checkSnapshots(parts.database.db, { teamId: team.id, own: team.limits, defaults: parts.limits })
  const tag = name?.tags[0] ?? DEFAULT_TAG
  const stored = await capture(parts, row, {
    name: `snapshot-${randomId(NAME_LENGTH)}`,
    actor,
    store: async (locked, snapshot) => {
      await checkSnapshots(locked.tx, { teamId: team.id, own: locked.own, defaults: parts.limits })
      const templateId = await storeSnapshot(locked, { team, userId, row, snapshot, alias: name?.alias, tag })
      const info = toSnapshotInfo({ templateId, tag, slug: team.slug, alias: name?.alias })
      // A request with the same key was faster: this snapshot is given up.
      if (once !== undefined && !(await once.claim(locked.tx))) throw inProgress()
      await once?.store(locked.tx, info)
      const data = { snapshotID: info.snapshotID, kept: snapshot.hasMemory ? 'memory' : 'files' }
      return { result: info, event: { kind: 'sandbox.snapshotted', data } }
    },
  })
  if (stored !== undefined) return stored
  throw inTransition(await getSnapshotSource(parts, team.id, { givenId, doing: 'snapshotted' }), 'snapshotted')
}
