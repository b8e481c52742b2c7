import {
  chmodSync,
  copyFileSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { errnoCode } from '../../sys/errno-text.ts'

/** Moves an entry with its subtree, atomically over a file or a link. Copies if the destination is on another file system. */
export function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'EXDEV') copyAcross(from, to)
    // The engine mounts files such as /etc/hosts, and a mount cannot be renamed over.
    else if (code === 'EBUSY' && lstatSync(from).isFile()) copyFileSync(from, to)
    else throw error
  }
}

function copyAcross(from: string, to: string): void {
  const entry = lstatSync(from)
  if (entry.isDirectory()) {
    mkdirSync(to)
    for (const name of readdirSync(from)) copyAcross(join(from, name), join(to, name))
    setAttributes(to, entry)
    return
  }
  const temp = `${to}.sandyard-${process.pid}`
  rmSync(temp, { force: true })
  try {
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), temp)
    else copyFileSync(from, temp)
    setAttributes(temp, entry)
    renameSync(temp, to)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
}

function setAttributes(path: string, entry: Stats): void {
  lchownSync(path, entry.uid, entry.gid)
  if (!entry.isSymbolicLink()) chmodSync(path, entry.mode)
  lutimesSync(path, entry.atime, entry.mtime)
}
