import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A user's PATH often lacks these folders, which contain most programs for the set-up of a host. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/** The file of a command, found on the PATH. */
export function findProgram(name: string): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- the search path of this process is the question
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...SBIN]) {
    if (folder === '') continue
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Absent or not executable: the next folder may have it.
    }
  }
  return undefined
}
