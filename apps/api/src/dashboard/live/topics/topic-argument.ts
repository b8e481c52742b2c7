import { AppError } from '@sandyard/kit/errors/app-error'
import type { Database } from '@sandyard/db/database'
import { sandboxNotFound } from '../../../sandboxes/sandbox-errors.ts'

const ID = /^[a-z0-9]{1,64}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** @throws AppError `invalid_argument` */
export function parseSandboxId(text: string): string {
  if (!ID.test(text)) throw new AppError('invalid_argument', 'The topic needs the id of a sandbox')
  return text
}

/** @throws AppError `invalid_argument` */
export function parseUuid(text: string): string {
  if (!UUID.test(text)) throw new AppError('invalid_argument', 'The topic needs a UUID')
  return text
}

/** @throws AppError `not_found` unless the team has the sandbox, or had it and it is still kept */
export async function assertSandboxOf({ db }: Pick<Database, 'db'>, teamId: string, sandboxId: string): Promise<void> {
  const live = db.selectFrom('sandbox').select('sandbox_id').where('sandbox_id', '=', sandboxId).where('team_id', '=', teamId)
  const ended = db.selectFrom('sandbox_history').select('sandbox_id').where('sandbox_id', '=', sandboxId).where('team_id', '=', teamId)
  if ((await live.unionAll(ended).limit(1).executeTakeFirst()) === undefined) throw sandboxNotFound(sandboxId)
}
