import type { ApiRoute } from '../http/api-instance.ts'
import { createSnapshotRoute } from './routes/create-snapshot.ts'
import { forkSandboxRoute } from './routes/fork-sandbox.ts'
import { listSnapshotsRoute } from './routes/list-snapshots.ts'

/** Snapshots and forks (control-plane.md 7). */
export const snapshotRoutes: readonly ApiRoute[] = [createSnapshotRoute, listSnapshotsRoute, forkSandboxRoute]
