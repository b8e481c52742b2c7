import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface Network {
  /** `172.20.0.0/16` */
  readonly subnet: string
  /** The address of the host on it, where the egress gateway listens. */
  readonly gateway: string
}

const LISTENING = '0A'

/** The TCP connections of a process with an address of a network, as `local -> remote`. Linux only. */
export function socketsTo(pid: number, { subnet }: Network): string[] {
  const own = new Set(inodesOf(pid))
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1)
  return lines.flatMap((line) => {
    const [, local = '', remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/)
    if (state === LISTENING || !own.has(inode) || !isWithin(numberOf(remote), subnet)) return []
    return [`${textOf(local)} -> ${textOf(remote)}`]
  })
}

function inodesOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  })
}

/** The kernel prints an address as a number in the byte order of the machine, which is little-endian here. */
function numberOf(place: string): number {
  return Buffer.from(place.slice(0, 8), 'hex').readUInt32LE()
}

function textOf(place: string): string {
  const bytes = [...Buffer.from(place.slice(0, 8), 'hex')].toReversed()
  return `${bytes.join('.')}:${Number.parseInt(place.slice(9), 16)}`
}

function isWithin(address: number, subnet: string): boolean {
  const [base = '', length = '32'] = subnet.split('/')
  const first = Buffer.from(base.split('.').map(Number)).readUInt32BE()
  const size = 2 ** (32 - Number(length))
  return address >= first && address < first + size
}
