/** Calls about the daemon's process and its children that Node does not offer. */
import { cFunction, checkCall } from './c-library.ts'

const WNOHANG = 1
/** The number of the limit of open files (linux: `asm-generic/resource.h`). */
export const RLIMIT_NOFILE = 7

const getrlimit = cFunction<[number, BigUint64Array]>('int getrlimit(int resource, void *limit)')
const setrlimit = cFunction<[number, BigUint64Array]>('int setrlimit(int resource, const void *limit)')
const waitpid = cFunction<[number, number[], number]>('int waitpid(int pid, _Out_ int *status, int options)')
const mallocTrim = cFunction<[number]>('int malloc_trim(size_t pad)')

/** How many files a process may have open: it may move the soft limit up to the hard one. */
export interface OpenFileLimit {
  readonly soft: bigint
  readonly hard: bigint
}

export function getOpenFileLimit(): OpenFileLimit {
  const pair = new BigUint64Array(2)
  checkCall('getrlimit', getrlimit(RLIMIT_NOFILE, pair))
  const [soft = 0n, hard = 0n] = pair
  return { soft, hard }
}

/** Sets the limit of the whole process. Open files stay open. */
export function setOpenFileLimit({ soft, hard }: OpenFileLimit): void {
  checkCall('setrlimit', setrlimit(RLIMIT_NOFILE, BigUint64Array.of(soft, hard)))
}

/** Reaps a child that has ended. Returns its wait status, or undefined while it runs. */
export function waitForChild(pid: number): number | undefined {
  const status = [0]
  return checkCall('waitpid', waitpid(pid, status, WNOHANG)) === 0 ? undefined : status[0]
}

/** Gives memory that was freed back to the system; the C library keeps it otherwise. */
export function trimMemory(): void {
  mallocTrim(0)
}
