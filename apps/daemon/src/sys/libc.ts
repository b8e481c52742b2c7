import { arch } from 'node:process'
import koffi from 'koffi'
import { systemError } from './errno-text.ts'

/** System call numbers, which differ by processor (linux: `unistd_64.h`, `asm-generic/unistd.h`). */
const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, SyscallNumbers>>> = {
  x64: { setgroups: 116, setresuid: 117, setresgid: 119, ioprioSet: 251 },
  arm64: { setgroups: 159, setresuid: 147, setresgid: 149, ioprioSet: 30 },
}

interface SyscallNumbers {
  readonly setgroups: number
  readonly setresuid: number
  readonly setresgid: number
  readonly ioprioSet: number
}

const O_CLOEXEC = 0o2000000
const IOPRIO_WHO_PROCESS = 1
/** Class "best effort" (2), level 4: what a process without any setting gets. */
const IOPRIO_BEST_EFFORT_4 = (2 << 13) | 4

// Already loaded with Node itself. A name would be looked up again, and in a bundle perhaps found in the image.
const libc = koffi.load(null)
const nativePipe2 = libc.func('int pipe2(_Out_ int *fds, int flags)')
/** glibc's function, not its wrappers: those of the setuid family change every thread of a process, this one only its own. */
const nativeSyscall = libc.func('long syscall(long number, long a, long b, long c)')
const nativeSetgroups = libc.func('syscall', 'long', ['long', 'long', koffi.pointer('uint32_t')])

const numbers = NUMBERS[arch]

/** A pipe for a child: its descriptors are closed in every program that is executed but for those handed over by number. */
export function openPipe(): { readonly read: number; readonly write: number } {
  const fds = [-1, -1]
  if (nativePipe2(fds, O_CLOEXEC) !== 0) throw systemError('pipe2', koffi.errno())
  const [read = -1, write = -1] = fds
  return { read, write }
}

/** Sets the supplementary groups of the calling thread only. */
export function setThreadGroups(groups: readonly number[]): void {
  check('setgroups', nativeSetgroups(requireNumbers().setgroups, groups.length, Uint32Array.from(groups)) as number)
}

/** Sets real, effective and saved group id of the calling thread only. */
export function setThreadGid(gid: number): void {
  check('setresgid', nativeSyscall(requireNumbers().setresgid, gid, gid, gid) as number)
}

/** Sets real and effective user id of the calling thread only. The saved one stays as it is, and is the way back. */
export function setThreadUid(uid: number): void {
  check('setresuid', nativeSyscall(requireNumbers().setresuid, uid, uid, -1) as number)
}

/** Gives the calling thread, and with it the processes that it starts, the ordinary priority for disk access. Best effort. */
export function setThreadIoPriority(): void {
  nativeSyscall(requireNumbers().ioprioSet, IOPRIO_WHO_PROCESS, 0, IOPRIO_BEST_EFFORT_4)
}

function check(syscall: string, result: number): void {
  if (result !== 0) throw systemError(syscall, koffi.errno())
}

function requireNumbers(): SyscallNumbers {
  if (numbers === undefined) throw new Error(`the daemon does not know the system calls of ${arch}`)
  return numbers
}
