import type { UploadKey } from '../../uploads/upload-link.ts'
import { change, type UploadUpkeepParts } from './collect-uploads.ts'

/** Longer than between two pieces of an upload, and than it takes to look through one. */
const STRAY_MS = 3_600_000

/**
 * Makes rows and files of uploads agree after a crash or a lost disk: removes uploads that never arrived and files without a row, both
 * once they are old, and forgets rows whose file is gone.
 */
export async function collectStrayFiles(parts: UploadUpkeepParts): Promise<void> {
  const { database, folder } = parts
  const before = Date.now() - STRAY_MS
  await folder.removeIncoming(before)
  const files = await folder.list()
  const rows = await database.db.selectFrom('layer_upload').select(['team_id', 'hash']).execute()
  const keys = rows.map(({ team_id, hash }) => ({ teamId: team_id, hash }))
  const named = new Set(keys.map(nameOf))
  const present = new Set(files.map(nameOf))
  for (const key of files) if (!named.has(nameOf(key))) await removeStray(parts, key, before)
  for (const key of keys) if (!present.has(nameOf(key))) await forgetLost(parts, key)
}

async function removeStray(parts: UploadUpkeepParts, key: UploadKey, before: number): Promise<void> {
  await change(parts, key, async (tx) => {
    const row = await tx
      .selectFrom('layer_upload')
      .select('hash')
      .where('team_id', '=', key.teamId)
      .where('hash', '=', key.hash)
      .executeTakeFirst()
    if (row === undefined && (await parts.folder.isOlder(key, before))) await parts.folder.remove(key)
  })
}

async function forgetLost(parts: UploadUpkeepParts, key: UploadKey): Promise<void> {
  await change(parts, key, async (tx) => {
    if (await parts.folder.exists(key)) return
    await tx.deleteFrom('layer_upload').where('team_id', '=', key.teamId).where('hash', '=', key.hash).execute()
  })
}

function nameOf({ teamId, hash }: UploadKey): string {
  return `${teamId}/${hash}`
}
