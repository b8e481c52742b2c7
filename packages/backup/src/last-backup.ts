import { AppError } from '@sandyard/kit/errors/app-error'
import { connect } from './tables/connect.ts'

/** The row of `server_setting` with the newest backup of an installation. */
export const LAST_BACKUP_SETTING = 'last_backup'

export interface LastBackup {
  /** Of the rows. */
  readonly createdAt: string
  /** Where it was written. */
  readonly file: string
  readonly sizeBytes: number
  readonly hasImages: boolean
}

/** @throws AppError `unavailable` */
export async function recordBackup(databaseUrl: string, last: LastBackup): Promise<void> {
  const client = await connect(databaseUrl)
  try {
    await client.query(
      `insert into server_setting (name, value) values ($1, $2)
       on conflict (name) do update set value = excluded.value, created_at = now()`,
      [LAST_BACKUP_SETTING, JSON.stringify(last)],
    )
  } catch (cause) {
    throw new AppError('unavailable', 'The backup is complete, but the database did not take the note of it.', { cause })
  } finally {
    await client.end()
  }
}

/** Undefined for a value that `recordBackup` did not write. */
export function parseLastBackup(value: string | undefined): LastBackup | undefined {
  if (value === undefined) return undefined
  try {
    const last = JSON.parse(value) as Partial<LastBackup> | null
    return typeof last?.createdAt === 'string' ? (last as LastBackup) : undefined
  } catch {
    return undefined
  }
}
