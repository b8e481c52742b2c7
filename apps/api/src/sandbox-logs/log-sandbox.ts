import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { LogLevel } from '@sandyard/db/schema/build-log'

export interface SandboxLogLine {
  readonly sandboxId: string
  readonly teamId: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
}

/** Writes a line of this server into the log of a sandbox, in the transaction of the change that the line reports. */
export async function logSandbox(tx: Tx, { sandboxId, teamId, level, message, fields }: SandboxLogLine): Promise<void> {
  await tx
    .insertInto('sandbox_log')
    .values({
      sandbox_id: sandboxId,
      team_id: teamId,
      logged_at: sql<Date>`clock_timestamp()`,
      level,
      message,
      fields: JSON.stringify(fields),
    })
    .execute()
}
