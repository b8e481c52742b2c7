import { AppError } from '@sandyard/kit/errors/app-error'
import type { Image } from '../image.ts'
import { ensureAccount } from './create-account.ts'
import { findUser } from './image-accounts.ts'
import { grantSudo, hasSudo } from './sudoers.ts'

export interface AddUserRequest {
  readonly name: string
  /** Grants password-less sudo, also to an existing account. */
  readonly sudo: boolean
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/

/** The step USER (control-plane.md 11.4). Accounts have names: an id is refused. */
export function addUser(image: Image, { name, sudo }: AddUserRequest): void {
  if (findUser(image, name) === undefined) {
    if (!NAME.test(name)) throw new AppError('invalid_argument', `'${name}' is not the name of an account, and cannot become one`)
    ensureAccount(image, name)
  }
  if (!sudo) return
  grantSudo(image, name)
  if (!hasSudo(image)) image.say(`warning: '${name}' may use sudo, but the image has none`)
}
