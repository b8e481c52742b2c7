import { AppError } from '@sandyard/kit/errors/app-error'
import { getUser, listGroups, listUsers } from '../accounts/image-accounts.ts'
import type { Image } from '../image.ts'
import type { OwnerIds } from '../make-directory.ts'

export interface OwnerRequest {
  /** The account of the step. */
  readonly user: string
  /** `name`, `name:group`, `:group`, `name:`, each by name or id; empty for the account and its group. */
  readonly owner: string
}

const ID = /^\d{1,10}$/
const MAX_ID = 0xffff_fffe
const MODE = /^0*[0-7]{1,4}$/

/**
 * The owner of copied files (control-plane.md 11.5). `name` means `name:name`; if there is no group of that name, as for Debian's `nobody`,
 * the primary group of the account. Ids need no account.
 *
 * @throws AppError `not_found` for an unknown name
 */
export function resolveOwner(image: Image, { user, owner }: OwnerRequest): OwnerIds {
  const [name, group] = splitOwner(owner)
  const account = name === '' ? getUser(image, user) : listUsers(image).find((entry) => entry.name === name)
  const uid = account?.uid ?? parseId(name)
  if (uid === undefined) throw new AppError('not_found', `the user '${name}' does not exist in the image`)
  if (group === undefined && name !== '') return { uid, gid: findGroup(image, name) ?? account?.gid ?? uid }
  if (group === undefined || group === '') return { uid, gid: account?.gid ?? uid }
  const gid = findGroup(image, group) ?? parseId(group)
  if (gid === undefined) throw new AppError('not_found', `the group '${group}' does not exist in the image`)
  return { uid, gid }
}

/**
 * The mode for all copied files and directories, as with `chmod -R`, but not for links. Undefined to keep the modes of the archive.
 *
 * @throws AppError `invalid_argument` if it is not octal
 */
export function parseMode(text: string): number | undefined {
  if (text === '') return undefined
  if (!MODE.test(text)) throw new AppError('invalid_argument', `'${text}' is not a mode: up to four octal digits are`)
  return Number.parseInt(text, 8)
}

function splitOwner(owner: string): [string, string | undefined] {
  const colon = owner.indexOf(':')
  return colon === -1 ? [owner, undefined] : [owner.slice(0, colon), owner.slice(colon + 1)]
}

function findGroup(image: Image, name: string): number | undefined {
  return listGroups(image).find((group) => group.name === name)?.gid
}

function parseId(text: string): number | undefined {
  return ID.test(text) && Number(text) <= MAX_ID ? Number(text) : undefined
}
