import { randomId } from '@sandyard/kit/ids/ids'
import type { ImageRef } from './types.ts'

const DAY_MS = 24 * 3_600_000

/** A backup stores its snapshots on the engine until it has read them. No row refers to them; younger ones may be in use. */
export const BACKUP_SNAPSHOT_AGE_MS = DAY_MS

/** A new name for a snapshot of a backup. */
export function backupSnapshotName(): string {
  return `backup-${randomId(16)}`
}

/** Whether an image is a snapshot that a backup made. */
export function isBackupSnapshot(image: ImageRef): boolean {
  return /[:/]backup-[a-z0-9]+$/.test(image)
}
