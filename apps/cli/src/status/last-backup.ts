import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LAST_BACKUP_SETTING, parseLastBackup, type LastBackup } from '@sandyard/backup/last-backup'
import type { CliParts } from '../cli-parts.ts'

/**
 * The newest backup that `sandyard backup` has noted: in the database, else, when that cannot be asked from here, in the data directory.
 * Undefined without a note.
 */
export async function findLastBackup(parts: CliParts): Promise<LastBackup | undefined> {
  try {
    const { db } = await parts.database()
    const row = await db.selectFrom('server_setting').select('value').where('name', '=', LAST_BACKUP_SETTING).executeTakeFirst()
    return parseLastBackup(row?.value)
  } catch {
    parts.signal.throwIfAborted()
    return findNotedFile(parts)
  }
}

function findNotedFile({ connection: { directory } }: CliParts): LastBackup | undefined {
  if (directory === undefined) return undefined
  try {
    return parseLastBackup(readFileSync(join(directory.path, 'last-backup.json'), 'utf8'))
  } catch {
    return undefined
  }
}
