import { ok, warn, type Check, type Finding } from '../check.ts'

/** The row of `server_setting` that `sandyard backup` writes: JSON with `createdAt` and `file`. */
const SETTING = 'last_backup'
const MOST_DAYS = 7
const DAY_MS = 24 * 3_600_000

export const backup: Check = {
  id: 'R4',
  title: 'Backup',
  checks: 'the time of the newest backup, which `sandyard backup` notes in the database: none, or older than 7 days, warns',
  why: 'After the loss of the disk only a backup brings keys, templates and snapshots back.',
  todo: 'Run "sandyard backup" every day, for example from a timer of systemd, and keep the archive on another machine.',
  async run({ database, machine }): Promise<Finding> {
    const newest = timeOf(await database.setting(SETTING))
    if (newest === undefined) return warn('no backup was made')
    const days = (machine.now() - newest) / DAY_MS
    const found = `the newest backup is of ${new Date(newest).toISOString()}`
    return days > MOST_DAYS ? warn(`${found}, ${Math.floor(days)} days ago`) : ok(found)
  },
}

/** Unix milliseconds; undefined for a value that no backup wrote. */
function timeOf(value: string | undefined): number | undefined {
  try {
    const { createdAt } = JSON.parse(value ?? '{}') as { createdAt?: unknown }
    const time = Date.parse(String(createdAt))
    return Number.isNaN(time) ? undefined : time
  } catch {
    return undefined
  }
}
