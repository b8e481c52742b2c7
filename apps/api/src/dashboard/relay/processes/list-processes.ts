import type { ProcessInfo } from '@sandyard/daemon-protocol/process/process_pb'
import type { ProcessView } from '@sandyard/dashboard-contract/processes'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { TAG_PREFIX } from '../../terminals/shell-tag.ts'
import { callDaemon } from '../call-daemon.ts'
import type { ReachableSandbox } from '../sandbox-daemon.ts'
import type { CpuShares } from './cpu-shares.ts'
import { parseBootTime, parseProcStat, TICKS_PER_SECOND, type ProcStat } from './proc-stat.ts'
import { readTexts } from './read-texts.ts'

/** Processes that are read. */
const MAX_PROCESSES = 500
const MAX_ARGS = 64
const MAX_TEXT = 1024

interface Facts {
  readonly stat: ProcStat | undefined
  readonly line: string
  readonly bootTime: number | undefined
  readonly owner: string
  readonly cpuPct: number | null
}

/** All processes of a sandbox, from its `/proc`, with the tags of those that its daemon has started. Nothing runs inside for that. */
export async function listProcesses(
  sandbox: ReachableSandbox,
  shares: CpuShares,
  signal: AbortSignal,
): Promise<{ data: ProcessView[]; isCut: boolean }> {
  const { daemon, sandboxId } = sandbox
  const { entries, processes } = await callDaemon(daemon, { signal }, async ({ files, processes }, options) => ({
    ...(await files.listDir({ path: '/proc', depth: 1 }, options)),
    ...(await processes.list({}, options)),
  }))
  const all = entries.flatMap(({ name, owner }) => (/^\d{1,7}$/.test(name) ? [{ pid: Number(name), owner }] : []))
  const read = all.toSorted((a, b) => a.pid - b.pid).slice(0, MAX_PROCESSES)
  const paths = read.flatMap(({ pid }) => [statPath(pid), linePath(pid)])
  const texts = await readTexts(daemon, ['/proc/stat', ...paths], signal)
  const bootTime = parseBootTime(texts.get('/proc/stat') ?? '')
  const known = new Map(processes.map((info) => [info.pid, info]))
  const stats = new Map(read.map(({ pid }) => [pid, parseProcStat(texts.get(statPath(pid)) ?? '')]))
  const ticks = new Map(
    [...stats].flatMap(([pid, stat]): [string, number][] => (stat === undefined ? [] : [[`${pid} ${stat.startTicks}`, stat.cpuTicks]])),
  )
  const cpu = shares.since(sandboxId, ticks)
  const data = read.flatMap(({ pid, owner }): ProcessView[] => {
    const stat = stats.get(pid)
    // It has ended meanwhile.
    if (stat === undefined) return []
    const cpuPct = cpu.get(`${pid} ${stat.startTicks}`) ?? null
    return [toView(pid, { stat, line: texts.get(linePath(pid)) ?? '', bootTime, owner, cpuPct }, known.get(pid))]
  })
  return { data, isCut: all.length > read.length }
}

const statPath = (pid: number): string => `/proc/${pid}/stat`
const linePath = (pid: number): string => `/proc/${pid}/cmdline`

function toView(pid: number, { stat, line, bootTime, owner, cpuPct }: Facts, info: ProcessInfo | undefined): ProcessView {
  const [command, ...args] = line.split('\0').filter((part, index, all) => part !== '' || index < all.length - 1)
  const tag = info?.tag
  const terminalId = tag?.startsWith(TAG_PREFIX) === true ? tag.slice(TAG_PREFIX.length) : ''
  const startedMs = bootTime === undefined || stat === undefined ? undefined : (bootTime + stat.startTicks / TICKS_PER_SECOND) * 1000
  return {
    pid,
    parentPid: stat?.parentPid ?? null,
    tag: tag === undefined || isUuid(terminalId) ? null : tag.slice(0, MAX_TEXT),
    // Processes of the kernel have no line.
    command: (command ?? stat?.command ?? '').slice(0, MAX_TEXT),
    args: args.slice(0, MAX_ARGS).map((arg) => arg.slice(0, MAX_TEXT)),
    user: owner === '' ? null : owner,
    cwd: info?.config?.cwd?.slice(0, MAX_TEXT) ?? null,
    cpuPct,
    memoryBytes: stat?.memoryBytes ?? null,
    startedAt: startedMs === undefined || startedMs > MAX_TIME_MS ? null : new Date(startedMs).toISOString(),
    terminalId: isUuid(terminalId) ? terminalId : null,
  }
}

/** The last instant of a Date. */
const MAX_TIME_MS = 8_640_000_000_000_000
