import { execFile } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { accessSync, constants, lstatSync, readFileSync, statSync, type Stats } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'
import { Unreadable } from './unreadable.ts'

/** A file system. Sizes are bytes. */
export interface Space {
  readonly type: number
  readonly totalBytes: number
  readonly freeBytes: number
  readonly inodes: number
  readonly freeInodes: number
}

/** What a check asks of this machine and its network. Tests replace single functions. */
export interface Machine {
  /** @throws Unreadable */
  space(path: string): Promise<Space>
  /** Undefined when it does not exist or must not be seen. */
  stat(path: string): Stats | undefined
  readFile(path: string): string | undefined
  /** Whether this user may see what is in a folder. */
  mayList(path: string): boolean
  /** The standard output of a program; undefined when there is no such program or it failed. */
  run(program: string, args: readonly string[]): Promise<string | undefined>
  /** The addresses of a name; empty when it has none. */
  lookUp(name: string): Promise<readonly string[]>
  /** Whether a TCP connection is accepted. */
  dial(host: string, port: number): Promise<boolean>
  now(): number
}

const RUN_TIMEOUT_MS = 5000
const DIAL_TIMEOUT_MS = 4000

export const MACHINE: Machine = {
  async space(path) {
    try {
      const { type, blocks, bavail, bsize, files, ffree } = await statfs(path)
      return { type, totalBytes: blocks * bsize, freeBytes: bavail * bsize, inodes: files, freeInodes: ffree }
    } catch (err) {
      throw new Unreadable(`the file system of ${path} cannot be read: ${(err as NodeJS.ErrnoException).code}`, { cause: err })
    }
  },
  stat(path) {
    try {
      return lstatSync(path).isSymbolicLink() ? statSync(path) : lstatSync(path)
    } catch {
      return undefined
    }
  },
  readFile(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  },
  mayList(path) {
    try {
      accessSync(path, constants.R_OK | constants.X_OK)
      return true
    } catch {
      return false
    }
  },
  async run(program, args) {
    const file = findProgram(program)
    if (file === undefined) return undefined
    try {
      const { stdout } = await promisify(execFile)(file, args, { timeout: RUN_TIMEOUT_MS })
      return stdout
    } catch {
      return undefined
    }
  },
  async lookUp(name) {
    return (await lookup(name, { all: true }).catch(() => [])).map(({ address }) => address)
  },
  dial(host, port) {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const socket = connect({ host, port, timeout: DIAL_TIMEOUT_MS })
    const settle = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.once('error', () => settle(false))
    return promise
  },
  now: () => Date.now(),
}
