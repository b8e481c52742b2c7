/** In the kernel each thread has its own identity. These calls change only the calling thread, unlike the C library's functions of the same names. */
import { cFunction, checkCall, systemCallNumber } from './c-library.ts'

const UNCHANGED = -1
const IOPRIO_WHO_PROCESS = 1
/** Class "best effort" (2), level 4: the default of the kernel. */
const IOPRIO_BEST_EFFORT_4 = (2 << 13) | 4

const syscall = cFunction<[number, number, number, number]>('long syscall(long number, long a, long b, long c)')
const syscallWithList = cFunction<[number, number, Uint32Array]>('long syscall(long number, long size, const uint32_t *list)')

export function setThreadGroups(groups: readonly number[]): void {
  checkCall('setgroups', syscallWithList(systemCallNumber('setgroups'), groups.length, Uint32Array.from(groups)))
}

/** Sets real, effective and saved group id. */
export function setThreadGid(gid: number): void {
  checkCall('setresgid', syscall(systemCallNumber('setresgid'), gid, gid, gid))
}

/** Sets the effective user id: files that the thread creates belong to that user, but the user may not signal the process. */
export function setThreadEffectiveUid(uid: number): void {
  checkCall('setresuid', syscall(systemCallNumber('setresuid'), UNCHANGED, uid, UNCHANGED))
}

/** Gives the thread, and with it the processes that it starts, the ordinary priority for disk access. Best effort. */
export function setThreadIoPriority(): void {
  syscall(systemCallNumber('ioprio_set'), IOPRIO_WHO_PROCESS, 0, IOPRIO_BEST_EFFORT_4)
}
