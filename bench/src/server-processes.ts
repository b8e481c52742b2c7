import { readdir, readFile, readlink } from 'node:fs/promises'

/** Ticks of `/proc/<pid>/stat` in a second, the same on every Linux that Node supports. */
const TICKS = 100

export interface ServerProcess {
  readonly pid: number
  /** What it does: `api`, `proxy`, `egress`, `postgres` or the name of its program. */
  readonly role: string
}

/**
 * The process that listens on the port of the control plane and all its descendants: with `npm start` the proxy, the egress gateway and
 * Postgres are among them. Needs root.
 *
 * @throws Error when no process on this machine listens there
 */
export async function findServerProcesses(apiUrl: string): Promise<ServerProcess[]> {
  const url = new URL(apiUrl)
  const inode = await findListener(Number(url.port || (url.protocol === 'https:' ? 443 : 80)))
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await readParent(pid)] as const)))
  let root: number | undefined
  for (const pid of pids) if (await holdsSocket(pid, inode)) root = pid
  if (root === undefined)
    throw new Error(`no process on this machine listens on ${apiUrl}, or this account may not see it: run this as root beside the server.`)
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(parents.get(pid) ?? 0))
  return Promise.all(pids.filter(isBelow).map(async (pid) => ({ pid, role: pid === root ? 'api' : await readRole(pid) })))
}

/** CPU milliseconds that the process has used so far; of ended children too, if it has waited for them. 0 after its end. */
export async function cpuMsOfProcess(pid: number): Promise<number> {
  const fields = await readStat(pid)
  return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 1000) / TICKS
}

/** Open descriptors; 0 after its end. */
export async function countDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`).catch(() => [])).length
}

/** The fields after the name, which may contain blanks. */
async function readStat(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

async function readParent(pid: number): Promise<number> {
  return Number((await readStat(pid))[1] ?? 0)
}

async function readRole(pid: number): Promise<string> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const app = /apps\/([a-z]+)\/src\/main\.ts/.exec(command)?.[1]
  if (app !== undefined) return app
  return /postgres/.test(command) ? 'postgres' : (command.split('\0')[0]?.split('/').at(-1) ?? '')
}

/** The inode of the listening TCP socket. */
async function findListener(port: number): Promise<string> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      if (state === '0A' && local.endsWith(`:${wanted}`)) return inode ?? ''
    }
  }
  throw new Error(`nothing listens on port ${port} of this machine: the benchmarks run beside the server.`)
}

async function holdsSocket(pid: number, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  for (const fd of await readdir(folder).catch(() => [])) {
    if ((await readlink(`${folder}/${fd}`).catch(() => '')) === `socket:[${inode}]`) return true
  }
  return false
}
