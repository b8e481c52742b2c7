import { findUserByEmail, findUserRow, type UserRow } from '@sandyard/api/teams/users'
import type { Db } from '@sandyard/db/database'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

/** The user with this address or id. @throws CliFailure `notFound` */
export async function chooseUser(db: Db, named: string): Promise<UserRow> {
  const user = isUuid(named) ? await findUserRow(db, named) : await findUserByEmail(db, named)
  if (user === undefined) throw new CliFailure(EXIT.notFound, `There is no user "${named}": see \`sandyard users list\`.`)
  return user
}
