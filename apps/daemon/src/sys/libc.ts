/**
 * The calls of the C library that Node has no way to. All of them are synchronous and run on the calling thread.
 * Loading this takes longer than most of the daemon's start: import it late.
 */
import { openSync } from 'node:fs'
import { arch } from 'node:process'
import koffi from 'koffi'
import { systemError } from './errno-text.ts'
import { type Identity, spawnAs } from './spawn-as.ts'

/** System call numbers, which differ by processor (linux: `unistd_64.h`, `asm-generic/unistd.h`). */
const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, Readonly<Record<Syscall, number>>>>> = {
  x64: { setgroups: 116, setresuid: 117, setresgid: 119, ioprio_set: 251 },
  arm64: { setgroups: 159, setresuid: 147, setresgid: 149, ioprio_set: 30 },
}
type Syscall = 'setgroups' | 'setresuid' | 'setresgid' | 'ioprio_set'

const O_CLOEXEC = 0o2000000
const WNOHANG = 1
const RLIMIT_NOFILE = 7
const SPAWN_SETSIGDEF = 0x04
const SPAWN_SETSIGMASK = 0x08
const SPAWN_SETSID = 0x80
const O_RDWR = 2
const IOPRIO_WHO_PROCESS = 1
/** Class "best effort" (2), level 4: what a process without any setting gets. */
const IOPRIO_BEST_EFFORT_4 = (2 << 13) | 4
/** More than any C library's: glibc and musl have 80, 336 and 128 bytes. */
const [FILE_ACTIONS_BYTES, SPAWN_ATTRIBUTES_BYTES, SIGNAL_SET_BYTES] = [256, 1024, 128]

// Already loaded with Node itself. A name would be looked up again, and perhaps found in the image.
const libc = koffi.load(null)
const native = {
  pipe2: libc.func('int pipe2(_Out_ int *fds, int flags)'),
  getrlimit: libc.func('int getrlimit(int resource, void *limit)'),
  setrlimit: libc.func('int setrlimit(int resource, const void *limit)'),
  waitpid: libc.func('int waitpid(int pid, _Out_ int *status, int options)'),
  posixSpawn: libc.func(
    'int posix_spawn(_Out_ int *pid, const char *path, const void *actions, const void *attributes, const char **argv, const char **envp)',
  ),
  actionsInit: libc.func('int posix_spawn_file_actions_init(void *actions)'),
  actionsDestroy: libc.func('int posix_spawn_file_actions_destroy(void *actions)'),
  actionsDup2: libc.func('int posix_spawn_file_actions_adddup2(void *actions, int fd, int newfd)'),
  actionsOpen: libc.func('int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, int mode)'),
  actionsChdir: libc.func('int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)'),
  attributesInit: libc.func('int posix_spawnattr_init(void *attributes)'),
  attributesFlags: libc.func('int posix_spawnattr_setflags(void *attributes, int16_t flags)'),
  attributesDefaults: libc.func('int posix_spawnattr_setsigdefault(void *attributes, const void *signals)'),
  attributesMask: libc.func('int posix_spawnattr_setsigmask(void *attributes, const void *signals)'),
  /** glibc's function, not its wrappers: those of the setuid family change every thread of a process, this one only its own. */
  syscall: libc.func('long syscall(long number, long a, long b, long c)'),
  syscallList: libc.func('syscall', 'long', ['long', 'long', koffi.pointer('uint32_t')]),
}

/** A pipe for a child: its descriptors are closed in every program that is executed but for those handed over. */
export function openPipe(): { readonly read: number; readonly write: number } {
  const fds = [-1, -1]
  if (native.pipe2(fds, O_CLOEXEC) !== 0) throw systemError('pipe2', koffi.errno())
  const [read = -1, write = -1] = fds
  return { read, write }
}

export interface SpawnFileOptions {
  readonly argv: readonly string[]
  /** `NAME=value` each. */
  readonly environment: readonly string[]
  /** Entered with the identity that the program gets. */
  readonly cwd: string
  /**
   * Become 0, 1 and 2; nothing else stays open but what was never marked to be closed. An undefined input is `/dev/null`. A terminal, by its
   * path, becomes all three, and controls the session that the program then leads.
   */
  readonly stdio: readonly [input: number | undefined, output: number, error: number] | string
}

/**
 * Starts the program in `file` with the identity of the calling thread, no blocked signal and the default action for each. The daemon's
 * memory is not copied for it, unlike with Node's own spawn: a tenth of the time, and of the page faults afterwards.
 *
 * @returns the pid, for `waitForChild`
 * @throws the system error of the start, the directory or the file
 */
export function spawnFile(file: string, options: SpawnFileOptions): number {
  return withSpawnForm(options, (actions, attributes) => {
    const pid = [-1]
    const [argv, environment] = [
      [...options.argv, null],
      [...options.environment, null],
    ]
    checkResult('posix_spawn', native.posixSpawn(pid, file, actions, attributes, argv, environment) as number)
    return pid[0] ?? -1
  })
}

/** The same with another identity, which the calling thread does not take. Undefined where nothing was started. */
export function spawnFileAs(identity: Identity, file: string, options: SpawnFileOptions): number | undefined {
  const { argv, environment } = options
  return withSpawnForm(options, (actions, attributes) => spawnAs(identity, { file, argv, environment, actions, attributes }))
}

function withSpawnForm<T>({ cwd, stdio }: SpawnFileOptions, spawn: (actions: Buffer, attributes: Buffer) => T): T {
  const actions = Buffer.alloc(FILE_ACTIONS_BYTES)
  checkResult('posix_spawn', native.actionsInit(actions) as number)
  try {
    checkResult('chdir', native.actionsChdir(actions, cwd) as number)
    const isTerminal = typeof stdio === 'string'
    const [input, output, error] = isTerminal ? [stdio, 0, 0] : stdio
    addStandardInput(actions, input)
    checkResult('dup2', native.actionsDup2(actions, output, 1) as number)
    checkResult('dup2', native.actionsDup2(actions, error, 2) as number)
    return spawn(actions, isTerminal ? leaderAttributes : attributes)
  } finally {
    native.actionsDestroy(actions)
  }
}

function addStandardInput(actions: Buffer, input: number | string | undefined): void {
  if (typeof input === 'string') return checkResult('open', native.actionsOpen(actions, 0, input, O_RDWR, 0) as number)
  checkResult('dup2', native.actionsDup2(actions, input ?? nullDevice, 0) as number)
}

/** How many files a process may have open: it may move the soft limit up to the hard one. */
export interface OpenFileLimit {
  readonly soft: bigint
  readonly hard: bigint
}

export function getOpenFileLimit(): OpenFileLimit {
  const pair = new BigUint64Array(2)
  check('getrlimit', native.getrlimit(RLIMIT_NOFILE, pair) as number)
  const [soft = 0n, hard = 0n] = pair
  return { soft, hard }
}

/** Of the whole process. Files that are open stay so. */
export function setOpenFileLimit({ soft, hard }: OpenFileLimit): void {
  check('setrlimit', native.setrlimit(RLIMIT_NOFILE, BigUint64Array.of(soft, hard)) as number)
}

/** Gives memory that was freed back to the system; the C library keeps it otherwise. A no-op for libraries that have no such call. */
export function trimMemory(): void {
  mallocTrim?.(0)
}

/** The wait status of a child that has ended, once; undefined while it lives. */
export function waitForChild(pid: number): number | undefined {
  const status = [0]
  const result = native.waitpid(pid, status, WNOHANG) as number
  if (result < 0) throw systemError('waitpid', koffi.errno())
  return result === 0 ? undefined : status[0]
}

/** Sets the supplementary groups of the calling thread only. */
export function setThreadGroups(groups: readonly number[]): void {
  check('setgroups', native.syscallList(numberOf('setgroups'), groups.length, Uint32Array.from(groups)) as number)
}

/** Sets real, effective and saved group id of the calling thread only. */
export function setThreadGid(gid: number): void {
  check('setresgid', native.syscall(numberOf('setresgid'), gid, gid, gid) as number)
}

/** Sets real and effective user id of the calling thread only. The saved one stays as it is, and is the way back. */
export function setThreadUid(uid: number): void {
  check('setresuid', native.syscall(numberOf('setresuid'), uid, uid, -1) as number)
}

/** Sets the effective user id of the calling thread only: what it opens and makes is that user's, but nobody new may signal it. */
export function setThreadEffectiveUid(uid: number): void {
  check('setresuid', native.syscall(numberOf('setresuid'), -1, uid, -1) as number)
}

/** Gives the calling thread, and with it the processes that it starts, the ordinary priority for disk access. Best effort. */
export function setThreadIoPriority(): void {
  native.syscall(numberOf('ioprio_set'), IOPRIO_WHO_PROCESS, 0, IOPRIO_BEST_EFFORT_4)
}

/** Of glibc only. */
function findMallocTrim(): ((pad: number) => number) | undefined {
  try {
    return libc.func('int malloc_trim(size_t pad)')
  } catch {
    return undefined
  }
}

/** Opened once: whatever a sandbox puts in its place, a FIFO for one, must not hold the daemon up. */
const nullDevice = openSync('/dev/null', 'r')

const mallocTrim = findMallocTrim()

const attributes = spawnAttributes(0)
/** For a program that leads a session: the first terminal that it opens becomes its controlling one. */
const leaderAttributes = spawnAttributes(SPAWN_SETSID)

function spawnAttributes(flags: number): Buffer {
  const attributes = Buffer.alloc(SPAWN_ATTRIBUTES_BYTES)
  checkResult('posix_spawn', native.attributesInit(attributes) as number)
  checkResult('posix_spawn', native.attributesDefaults(attributes, Buffer.alloc(SIGNAL_SET_BYTES, 0xff)) as number)
  checkResult('posix_spawn', native.attributesMask(attributes, Buffer.alloc(SIGNAL_SET_BYTES)) as number)
  checkResult('posix_spawn', native.attributesFlags(attributes, SPAWN_SETSIGDEF | SPAWN_SETSIGMASK | flags) as number)
  return attributes
}

function check(call: string, result: number): void {
  if (result !== 0) throw systemError(call, koffi.errno())
}

/** For the functions that return the error number itself. */
function checkResult(call: string, errno: number): void {
  if (errno !== 0) throw systemError(call, errno)
}

function numberOf(call: Syscall): number {
  const number = NUMBERS[arch]?.[call]
  if (number === undefined) throw new Error(`the daemon does not know the system calls of ${arch}`)
  return number
}
