/** What `/proc/<pid>/stat` says. */
export interface ProcStat {
  readonly command: string
  readonly parentPid: number
  /** Of user and kernel, in clock ticks. */
  readonly cpuTicks: number
  /** Clock ticks after the boot of the host. */
  readonly startTicks: number
  readonly memoryBytes: number
}

/** Of Linux on every architecture that we run on. */
export const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

/** The numbers of the fields in proc(5), counted from the one after the command. */
const [PARENT, USER_TICKS, KERNEL_TICKS, START, RESIDENT] = [1, 11, 12, 19, 21] as const

/** Undefined for a text of another form: the sandbox is not trusted. */
export function parseProcStat(text: string): ProcStat | undefined {
  // The command may have spaces and brackets.
  const [from, to] = [text.indexOf('('), text.lastIndexOf(')')]
  if (from === -1 || to < from) return undefined
  const fields = text.slice(to + 2).split(' ')
  const at = (index: number): number => Number(fields[index])
  const stat = {
    command: text.slice(from + 1, to),
    parentPid: at(PARENT),
    cpuTicks: at(USER_TICKS) + at(KERNEL_TICKS),
    startTicks: at(START),
    memoryBytes: at(RESIDENT) * PAGE_BYTES,
  }
  const isWhole = [stat.parentPid, stat.cpuTicks, stat.startTicks, stat.memoryBytes].every(
    (value) => Number.isSafeInteger(value) && value >= 0,
  )
  return isWhole ? stat : undefined
}

/** The boot of the host in `/proc/stat`, in Unix seconds. */
export function parseBootTime(text: string): number | undefined {
  const seconds = Number(/^btime (\d{1,12})$/m.exec(text)?.[1] ?? NaN)
  return Number.isNaN(seconds) ? undefined : seconds
}
