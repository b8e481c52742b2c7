/**
 * Writes accounts directly to the files, with the result of `useradd --create-home`, because an image may lack that program. An existing account is
 * not changed.
 */
import { existsSync } from 'node:fs'
import type { PasswdEntry } from '../../users/passwd.ts'
import { at, type Image } from '../image.ts'
import { getUser, findUser, listGroups, listUsers, readAccountFile } from './image-accounts.ts'
import { createHome } from './create-home.ts'
import { replaceFile } from './replace-file.ts'

const FIRST_ID = 1000
const ROOT_USER = 'root:x:0:0:root:/root:/bin/sh\n'
const ROOT_GROUP = 'root:x:0:\n'

/** Its id is the first free one from 1000. It has no password, so nobody can log in with one. */
export function ensureAccount(image: Image, name: string): PasswdEntry {
  const existing = findUser(image, name)
  if (existing !== undefined) {
    // The group may exist after a kill, or from a program that creates groups only.
    if (existing.home === homeOf(name) && !existsSync(at(image, existing.home))) createHome(image, existing)
    return existing
  }
  const uid = nextFree(listUsers(image).map((user) => user.uid))
  const gid = ensureGroup(image, name, uid)
  appendLine(image, '/etc/shadow', `${name}:*::0:99999:7:::`)
  // An `x` means that the password is in the shadow file. If there is no such file, sudo would refuse the account.
  const password = existsSync(at(image, '/etc/shadow')) ? 'x' : '*'
  // Last, because this line makes the account exist: if the tool is killed before it, the next call repeats all steps.
  appendLine(image, '/etc/passwd', `${name}:${password}:${uid}:${gid}::${homeOf(name)}:/bin/bash`, ROOT_USER)
  const account = getUser(image, name)
  createHome(image, account)
  return account
}

/** Adds a user to a group. Does nothing if the group does not exist. */
export function joinGroup(image: Image, user: string, group: string): void {
  const text = readAccountFile(image, '/etc/group')
  const lines = text.split('\n').map((line) => {
    const [name, password, gid, members = ''] = line.split(':')
    if (name !== group || members.split(',').includes(user)) return line
    return [name, password, gid, members === '' ? user : `${members},${user}`].join(':')
  })
  if (lines.join('\n') !== text) replaceFile(at(image, '/etc/group'), { text: lines.join('\n'), mode: 0o644 })
}

function homeOf(name: string): string {
  return `/home/${name}`
}

function ensureGroup(image: Image, name: string, uid: number): number {
  const groups = listGroups(image)
  const existing = groups.find((group) => group.name === name)
  if (existing !== undefined) return existing.gid
  const gids = groups.map((group) => group.gid)
  const gid = gids.includes(uid) ? nextFree(gids) : uid
  appendLine(image, '/etc/gshadow', `${name}:!::`)
  appendLine(image, '/etc/group', `${name}:x:${gid}:`, ROOT_GROUP)
  return gid
}

function nextFree(ids: readonly number[]): number {
  const taken = new Set(ids)
  let id = FIRST_ID
  while (taken.has(id)) id += 1
  return id
}

/** A missing file is created with `first` as its first line, or skipped without `first`. A line of the same name is replaced: it has no account. */
function appendLine(image: Image, path: string, line: string, first?: string): void {
  const file = at(image, path)
  if (!existsSync(file) && first === undefined) return
  const name = line.slice(0, line.indexOf(':') + 1)
  const kept = (readAccountFile(image, path) || (first ?? '')).split('\n').filter((other) => other !== '' && !other.startsWith(name))
  replaceFile(file, { text: [...kept, line, ''].join('\n'), mode: path.endsWith('shadow') ? 0o640 : 0o644 })
}
