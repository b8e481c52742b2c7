import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Secret } from '@sandyard/kit/config/secret'

const MARK_BYTES = 32
/** The same on every server. What a reader of the database could do with the mark of a weak token is slow because of scrypt. */
const SALT = 'sandyard dashboard'

const derive = promisify<string, string, number, Buffer>(scrypt)
const marks = new WeakMap<Secret, Promise<Buffer>>()

/** Names the admin token without telling it: operators' logins end when it changes. Null: there is none. It takes 50 ms, once. */
export async function adminMark(adminToken: Secret | undefined): Promise<Buffer | null> {
  if (adminToken === undefined) return null
  const mark = marks.get(adminToken) ?? derive(adminToken.reveal(), SALT, MARK_BYTES)
  marks.set(adminToken, mark)
  return mark
}
