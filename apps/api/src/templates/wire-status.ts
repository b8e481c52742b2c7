import type { BuildStatus as WireStatus } from '@sandyard/api-contract/templates/build-status'
import type { BuildStatus } from '@sandyard/db/schema/build'

const WIRE: Readonly<Record<BuildStatus, WireStatus>> = {
  pending: 'waiting',
  waiting: 'waiting',
  in_progress: 'building',
  building: 'building',
  snapshotting: 'building',
  uploaded: 'ready',
  success: 'ready',
  ready: 'ready',
  failed: 'error',
}

/** The wire status of a build (control-plane.md 17.3). */
export function toWireStatus(status: BuildStatus): WireStatus {
  return WIRE[status]
}
