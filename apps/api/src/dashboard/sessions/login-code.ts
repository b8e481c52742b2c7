import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { statementTime } from '@sandyard/db/statement-time'
import { LOGIN_CODE_MS } from '@sandyard/dashboard-contract/limits'
import { hashToken } from './session-rows.ts'

const CODE_BYTES = 32

/** A single-use code for an operator's login, valid for 60 s. Only its hash is stored. */
export async function issueLoginCode(db: Db): Promise<string> {
  const code = randomBytes(CODE_BYTES).toString('base64url')
  await db
    .insertInto('dashboard_login_code')
    .values({ code_hash: hashToken(code), expires_at: sql<Date>`statement_timestamp() + make_interval(secs => ${LOGIN_CODE_MS / 1000})` })
    .execute()
  return code
}

/** The link with a code in its fragment, which browsers never send to a server or a proxy. */
export function loginLink(apiUrl: string, code: string): string {
  return `${apiUrl}/dashboard/login#code=${code}`
}

/** Whether the code was valid. It is not valid again, also when what follows fails. */
export async function useLoginCode(db: Db, code: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('dashboard_login_code')
    .where('code_hash', '=', hashToken(code))
    .where('expires_at', '>', statementTime())
    .executeTakeFirst()
  return numDeletedRows > 0n
}
