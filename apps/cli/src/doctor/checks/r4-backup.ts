import { describeDataDirectory } from '@sandyard/api/program/data/data-directory'
import { findLastBackup } from '../../status/last-backup.ts'
import { ok, skipped, warn, type Check, type Finding } from '../check.ts'
import { readBackupTimes } from '../facts/backup-times.ts'
import type { Facts } from '../facts/facts.ts'

const MOST_DAYS = 7
const DAY_MS = 24 * 3_600_000

export const backup: Check = {
  id: 'R4',
  title: 'Backup',
  checks:
    'the newest `manifest.json` below `SANDYARD_BACKUP_DIR`, or what `sandyard backup` has noted in the data directory: none, or older than 7 days, warns',
  why: 'After the loss of the disk only a backup brings keys, templates and snapshots back.',
  todo: 'Run "sandyard backup" every day, for example from a timer of systemd, and keep the archive on another machine.',
  async run(facts): Promise<Finding> {
    const { backupDir, dataDir } = facts.settings
    const isHere = facts.machine.mayList(dataDir)
    if (backupDir === undefined && !isHere)
      return skipped('neither SANDYARD_BACKUP_DIR nor a data directory that this user may read says where backups are')
    const times = [...(backupDir === undefined ? [] : await readBackupTimes(backupDir)), ...notedTimes(facts)]
    if (times.length === 0) return warn(`no backup was made (looked in ${[backupDir, dataDir].filter(Boolean).join(', ')})`)
    const newest = Math.max(...times)
    const days = (facts.machine.now() - newest) / DAY_MS
    const found = `the newest backup is of ${new Date(newest).toISOString()}`
    return days > MOST_DAYS ? warn(`${found}, ${Math.floor(days)} days ago`) : ok(found)
  },
}

function notedTimes({ settings }: Facts): number[] {
  const noted = findLastBackup(describeDataDirectory(settings.dataDir))
  return noted === undefined ? [] : [Date.parse(noted.createdAt)]
}
