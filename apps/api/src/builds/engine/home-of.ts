import { readTextFile } from '../../daemon/daemon-files.ts'
import { daemonAt, type Attempt, type Progress } from './attempt.ts'

/** The home of the context's user; undefined for a user that there is not. */
export async function homeOf(attempt: Attempt, progress: Progress): Promise<string | undefined> {
  const passwd = (await readTextFile(await daemonAt(attempt, progress), '/etc/passwd', attempt.signal)) ?? ''
  const fields = passwd.split('\n').map((line) => line.split(':'))
  return fields.find(([name]) => name === progress.context.user)?.[5]
}
