import { readdir, readFile, readlink } from 'node:fs/promises'

/** The kernel counts in hundredths of a second, whatever its own clock is. */
const MS_PER_TICK = 10
const LISTENS = '0A'

/** CPU milliseconds that a process has used so far, with all of its threads. */
export async function cpuMsOfProcess(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // Behind the name, which may contain anything: utime and stime are the fields 14 and 15 of the line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/**
 * The pid of the process of this machine that listens on a TCP port.
 *
 * @throws when there is none, or when this account may not see it
 */
export async function findListener(port: number): Promise<number> {
  const sockets = new Set(await listeningSockets(port))
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
    const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
    if (links.some((link) => sockets.has(link))) return Number(pid)
  }
  throw new Error(`no process that this account may see listens on port ${port}: the benchmarks run beside the server, as root`)
}

async function listeningSockets(port: number): Promise<string[]> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === LISTENS)
    .map((fields) => `socket:[${fields[9]}]`)
}
