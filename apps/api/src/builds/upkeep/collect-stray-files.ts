import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import type { UploadKey } from '../../uploads/upload-link.ts'
import { change, type UploadUpkeepParts } from './collect-uploads.ts'

/** Longer than the pause between two chunks of an upload, and than the scan of an archive. */
const STRAY_MS = 3_600_000
const PAGE = 1000

/** Repairs uploads after a crash or a lost disk: removes old incomplete uploads, old files without a row, and rows without a file. */
export async function collectStrayFiles(parts: UploadUpkeepParts, signal?: AbortSignal): Promise<void> {
  const { database, folder } = parts
  const before = Date.now() - STRAY_MS
  await folder.removeIncoming(before)
  const files = await folder.list()
  const present = new Set(files.map(nameOf))
  for (let at = 0; at < files.length; at += PAGE) {
    if (signal?.aborted === true) return
    const page = files.slice(at, at + PAGE)
    const named = await namesOf(database.db, page)
    for (const key of page) if (!named.has(nameOf(key))) await removeStray(parts, key, before)
  }
  for await (const key of listUploads(database.db)) {
    if (signal?.aborted === true) return
    if (!present.has(nameOf(key))) await forgetLost(parts, key)
  }
}

/** The files that have a row. */
async function namesOf(db: Db, keys: readonly UploadKey[]): Promise<ReadonlySet<string>> {
  const hashes = keys.map(({ hash }) => hash)
  const rows = await db.selectFrom('layer_upload').select(['team_id', 'hash']).where('hash', 'in', hashes).execute()
  return new Set(rows.map(({ team_id, hash }) => nameOf({ teamId: team_id, hash })))
}

/** Every row, read page by page. */
async function* listUploads(db: Db): AsyncGenerator<UploadKey> {
  let after: UploadKey = { teamId: NIL_UUID, hash: '' }
  while (true) {
    const { rows } = await sql<{ team_id: string; hash: string }>`
      select team_id, hash from layer_upload where (team_id, hash) > (${after.teamId}::uuid, ${after.hash})
      order by team_id, hash limit ${PAGE}
    `.execute(db)
    const keys = rows.map(({ team_id, hash }) => ({ teamId: team_id, hash }))
    yield* keys
    const last = keys.at(-1)
    if (last === undefined || keys.length < PAGE) return
    after = last
  }
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
