import type { Db } from '@sandyard/db/database'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { listKeys, type KeyView } from './key-queries.ts'

/** The key with this id, or the only one whose id begins with it. @throws CliFailure `notFound`; `usage` when several do */
export async function resolveKey(db: Db, id: string): Promise<KeyView> {
  const idBegin = id.toLowerCase()
  const found = /^[0-9a-f-]+$/.test(idBegin) ? await listKeys(db, { idBegin }) : []
  const [only] = found
  if (only === undefined) throw new CliFailure(EXIT.notFound, `There is no key with the id "${id}": see \`sandyard keys list\`.`)
  if (found.length > 1) throw new CliFailure(EXIT.usage, `${found.length} keys have ids that begin with "${id}": write more of it.`)
  return only
}
