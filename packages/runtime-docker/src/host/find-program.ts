import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A user's PATH often lacks these, and they hold most of what a host's set-up calls. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/** The file that a command's name stands for. */
export function findProgram(name: string): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- the search path of this process is the question
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...SBIN]) {
    if (folder === '') continue
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not there, or not to be run: the next folder may have it.
    }
  }
  return undefined
}
