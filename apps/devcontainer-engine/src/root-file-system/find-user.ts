import { readFile } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { resolveInRoot } from './resolve-in-root.ts'

export interface RootUser {
  readonly uid: number
  readonly gid: number
  readonly home: string
}

/** `name`, `uid`, `name:group` or `uid:gid`, by /etc/passwd and /etc/group of the root file system. Empty is root. */
export async function findUser(root: string, spec: string): Promise<RootUser> {
  const [name = '', group] = (spec === '' ? '0' : spec).split(':')
  const entry = (await readRows(root, '/etc/passwd')).find((row) => row[0] === name || row[2] === name)
  const uid = entry === undefined ? toId(name) : Number(entry[2])
  if (uid === undefined) throw new AppError('not_found', `The image has no user '${name}'`)
  const gid = group === undefined ? Number(entry?.[3] ?? 0) : await findGroup(root, group)
  const home = entry?.[5] ?? ''
  return { uid, gid, home: home === '' ? (uid === 0 ? '/root' : '/') : home }
}

async function findGroup(root: string, name: string): Promise<number> {
  const entry = (await readRows(root, '/etc/group')).find((row) => row[0] === name)
  const gid = entry === undefined ? toId(name) : Number(entry[2])
  if (gid === undefined) throw new AppError('not_found', `The image has no group '${name}'`)
  return gid
}

async function readRows(root: string, path: string): Promise<string[][]> {
  const text = await readFile(await resolveInRoot(root, path), 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.split(':'))
}

function toId(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
