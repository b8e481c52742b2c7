import { existsSync, readFileSync } from 'node:fs'
import { AppError } from '@sandyard/kit/errors/app-error'
import { type GroupEntry, parseGroup, parsePasswd, type PasswdEntry } from '../../users/passwd.ts'
import { at, type Image } from '../image.ts'

/** The text of an account file; empty if it is missing. */
export function readAccountFile(image: Image, path: string): string {
  return existsSync(at(image, path)) ? readFileSync(at(image, path), 'latin1') : ''
}

export function listUsers(image: Image): PasswdEntry[] {
  return parsePasswd(readAccountFile(image, '/etc/passwd'))
}

export function listGroups(image: Image): GroupEntry[] {
  return parseGroup(readAccountFile(image, '/etc/group'))
}

export function findUser(image: Image, name: string): PasswdEntry | undefined {
  return listUsers(image).find((user) => user.name === name)
}

/** @throws AppError `not_found` with the sentence for the log */
export function getUser(image: Image, name: string): PasswdEntry {
  const user = findUser(image, name)
  if (user === undefined) throw new AppError('not_found', `the user '${name}' does not exist in the image`)
  return user
}
