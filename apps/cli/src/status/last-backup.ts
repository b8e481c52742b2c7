import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '@sandyard/api/program/data/data-directory'

export interface LastBackup {
  readonly createdAt: string
  /** The archive. */
  readonly file: string
}

/** What the last `sandyard backup` of this data directory noted; undefined when there is no note. */
export function findLastBackup(directory: DataDirectory | undefined): LastBackup | undefined {
  if (directory === undefined) return undefined
  try {
    const { createdAt, file } = JSON.parse(readFileSync(join(directory.path, 'last-backup.json'), 'utf8')) as Partial<LastBackup>
    return createdAt === undefined || file === undefined || Number.isNaN(Date.parse(createdAt)) ? undefined : { createdAt, file }
  } catch {
    return undefined
  }
}
