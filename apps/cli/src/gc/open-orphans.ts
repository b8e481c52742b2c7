import { openOrphans as openOrphansOf } from '@sandyard/api/program/open-orphans'
import type { OrphanSource } from '@sandyard/runtime/orphan'
import type { CliParts } from '../cli-parts.ts'

/** @throws AppError `permission_denied` when another engine answers than the one of the database */
export async function openOrphans(parts: CliParts): Promise<OrphanSource> {
  const { db } = await parts.database()
  return openOrphansOf({ db, docker: await parts.engine(), signal: parts.signal })
}
