import { Type, type Static } from 'typebox'
import { pagingQuery } from '../paging.ts'

/** Body of `POST /sandboxes/{sandboxID}/snapshots`, which may be absent. */
export const NewSnapshot = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'Name of the snapshot: [namespace/]alias[:tag]' })),
    memory: Type.Optional(Type.Boolean({ description: 'Whether to keep memory; the default is what the runtime can keep' })),
  },
  { title: 'NewSnapshot' },
)
export type NewSnapshot = Static<typeof NewSnapshot>

/** A snapshot (control-plane.md 7.1). */
export const SnapshotInfo = Type.Object(
  {
    snapshotID: Type.String({ description: 'Template reference of the snapshot, with its tag' }),
    names: Type.Array(Type.String(), { description: 'namespace/alias, without a tag; empty without a name' }),
  },
  { title: 'SnapshotInfo' },
)
export type SnapshotInfo = Static<typeof SnapshotInfo>

/** Query of `GET /snapshots`. */
export const ListSnapshotsQuery = Type.Object({
  sandboxID: Type.Optional(Type.String({ description: 'The sandbox that the snapshots were taken of' })),
  name: Type.Optional(Type.String({ description: 'An alias, namespace/alias or template id, with an optional :tag' })),
  ...pagingQuery,
})
export type ListSnapshotsQuery = Static<typeof ListSnapshotsQuery>
