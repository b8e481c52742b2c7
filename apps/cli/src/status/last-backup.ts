export interface LastBackup {
  readonly createdAt: string
  /** Where the archive was written. */
  readonly file: string
}

/** The row of `server_setting` in which `sandyard backup` notes the newest backup of an installation. */
export const LAST_BACKUP_SETTING = 'last_backup'

/** Undefined without a note, and for a value that is none. */
export function parseLastBackup(value: string | undefined): LastBackup | undefined {
  try {
    const { createdAt, file } = JSON.parse(value ?? '{}') as Partial<LastBackup>
    return createdAt === undefined || file === undefined || Number.isNaN(Date.parse(createdAt)) ? undefined : { createdAt, file }
  } catch {
    return undefined
  }
}
