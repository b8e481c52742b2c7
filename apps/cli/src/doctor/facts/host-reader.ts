import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Unreadable } from './unreadable.ts'

/** A socket that listens, as `/proc/net/tcp` has it. */
export interface Listener {
  /** Dotted for IPv4; for IPv6 the 32 hex digits as the kernel writes them. */
  readonly address: string
  readonly isLoopback: boolean
  readonly port: number
  readonly inode: string
}

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  readonly args: readonly string[]
}

export interface Route {
  readonly interface: string
  /** IPv4 as a number. */
  readonly destination: number
  readonly mask: number
}

const LISTENS = '0A'
const LOOPBACK_IPV6 = '00000000000000000000000001000000'
/** Loopback as an address of IPv4 in IPv6 (::ffff:127.0.0.1). */
const MAPPED_LOOPBACK = /^0{16}FFFF0000[0-9A-F]{6}7F$/
const CONTAINER_MARKS = ['.dockerenv', 'run/.containerenv']

/** Reads the kernel's files below `root`, which is `/` but in tests: `proc`, and the documents of packages. */
export class HostReader {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  /** The text of a file, without spaces at its ends; undefined when it does not exist or must not be read. */
  find(path: string): string | undefined {
    try {
      return readFileSync(join(this.root, path), 'utf8').trim()
    } catch {
      return undefined
    }
  }

  /** @throws Unreadable */
  text(path: string): string {
    const text = this.find(path)
    if (text === undefined) throw new Unreadable(`there is no /${path} here`)
    return text
  }

  /** The first number of a file. @throws Unreadable */
  number(path: string): number {
    return this.numbers(path)[0] ?? 0
  }

  /** All numbers of a file. @throws Unreadable */
  numbers(path: string): number[] {
    const numbers = this.text(path).split(/\s+/).map(Number)
    if (numbers.some(Number.isNaN)) throw new Unreadable(`/${path} is not a number`)
    return numbers
  }

  /** The text of a gzip file; undefined when it cannot be read. */
  findZipped(path: string): string | undefined {
    try {
      return gunzipSync(readFileSync(join(this.root, path))).toString('utf8')
    } catch {
      return undefined
    }
  }

  /** This process runs in a container. Its network may still be that of the machine. */
  get isContainer(): boolean {
    return CONTAINER_MARKS.some((mark) => this.find(mark) !== undefined)
  }

  /** The names of the network interfaces of this network namespace. */
  interfaces(): string[] {
    return [...(this.find('proc/net/dev') ?? '').matchAll(/^\s*([^\s:|]+):/gm)].map(([, name = '']) => name)
  }

  listeners(): Listener[] {
    return [...this.#sockets('proc/net/tcp'), ...this.#sockets('proc/net/tcp6')]
  }

  routes(): Route[] {
    const [, ...lines] = this.text('proc/net/route').split('\n')
    return lines.flatMap((line) => {
      const [name, destination, , , , , , mask] = line.split(/\s+/)
      if (name === undefined || destination === undefined || mask === undefined) return []
      return [{ interface: name, destination: hostOrder(destination), mask: hostOrder(mask) }]
    })
  }

  processes(): RunningProcess[] {
    return this.#pids().flatMap((pid) => this.findProcess(pid) ?? [])
  }

  /** Undefined when there is no such process, or it has ended and is not reaped. */
  findProcess(pid: number): RunningProcess | undefined {
    const stat = this.find(`proc/${pid}/stat`)
    if (stat === undefined) return undefined
    // The name in parentheses may contain spaces and parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    const args = (this.find(`proc/${pid}/cmdline`) ?? '').split('\0').filter((arg) => arg !== '')
    return { pid, parent: Number(parent), args }
  }

  /** The process that listens on a port; undefined when it cannot be seen by this user. */
  holderOf({ inode }: Listener): RunningProcess | undefined {
    const link = `socket:[${inode}]`
    const pid = this.#pids().find((candidate) => this.#descriptors(candidate).includes(link))
    return pid === undefined ? undefined : this.findProcess(pid)
  }

  #pids(): number[] {
    return readdirSync(join(this.root, 'proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  }

  #descriptors(pid: number): string[] {
    const folder = join(this.root, `proc/${pid}/fd`)
    try {
      return readdirSync(folder).flatMap((name) => {
        try {
          return readlinkSync(join(folder, name))
        } catch {
          return []
        }
      })
    } catch {
      return []
    }
  }

  #sockets(path: string): Listener[] {
    const [, ...lines] = (this.find(path) ?? '').split('\n')
    return lines.flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (state !== LISTENS || inode === undefined) return []
      const isShort = address.length === 8
      const dotted = isShort ? toDotted(hostOrder(address)) : address
      const isLoopback = isShort ? dotted.startsWith('127.') : address === LOOPBACK_IPV6 || MAPPED_LOOPBACK.test(address)
      return [{ address: dotted, isLoopback, port: Number.parseInt(port, 16), inode }]
    })
  }
}

/** The kernel writes IPv4 addresses as hex in the byte order of the processor, which is little-endian wherever this runs. */
function hostOrder(hex: string): number {
  return Buffer.from(hex, 'hex').readUInt32LE()
}

export function toDotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.')
}
