/**
 * posix_spawn(3) with another identity, on a short-lived thread that has this identity. A process of that identity can never signal the daemon, as it
 * could if the daemon's first thread had the identity for a moment. Unlike with Node's own spawn, the daemon's page tables are not copied.
 */
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, addressesIn, type Piece, stringBytes } from './arena.ts'
import { cFunction, checkCall, checkErrno, lastErrno } from './c-library.ts'
import { systemError } from './errno-text.ts'
import { libraryCall, type NativeCall, systemCall, writeDeadline } from './native-thread.ts'
import { borrowSpawnMemory, giveBackSpawnMemory, type SpawnMemory } from './spawn-memory.ts'

export interface Identity {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

export interface SpawnCall {
  /** The process has it from its first instruction. */
  readonly identity: Identity
  readonly file: string
  readonly argv: readonly string[]
  /** `NAME=value` each. */
  readonly environment: readonly string[]
  /** Entered with the identity that the program gets. */
  readonly cwd: string
  /**
   * Become 0, 1 and 2; nothing else is open in the program. A terminal, by its path, becomes all three, and controls the session that the
   * program then leads.
   */
  readonly stdio: readonly [input: number, output: number, error: number] | string
}

/** A failure is the error of a stream, of entering the directory or of executing the file. */
export type SpawnOutcome = { readonly pid: number } | { readonly failure: NodeJS.ErrnoException }

/** Linux has no more groups than this. */
const MOST_GROUPS = 65_536
const ID_BYTES = 4
const O_RDWR = 2
const FIRST_OTHER_DESCRIPTOR = 3
const CLOCK_MONOTONIC = 1
/** Long enough on a busy machine: until it has its identity the thread only needs processor time. */
const IDENTITY_DEADLINE_MS = 10_000
const LONGEST_POLL_MS = 250
const HIGHEST_ERRNO = 133

const semaphoreInit = cFunction<[Address, 0, 0]>('int sem_init(uintptr_t semaphore, int shared, unsigned int value)')
const semaphorePost = cFunction<[Address]>('int sem_post(uintptr_t semaphore)')
const semaphoreWait = cFunction<[Address, number, Address]>('int sem_clockwait(uintptr_t semaphore, int clock, uintptr_t until)')
const actionsInit = cFunction<[Address]>('int posix_spawn_file_actions_init(uintptr_t actions)')
const actionsDestroy = cFunction<[Address]>('int posix_spawn_file_actions_destroy(uintptr_t actions)')
const actionsDup2 = cFunction<[Address, number, number]>('int posix_spawn_file_actions_adddup2(uintptr_t actions, int fd, int newfd)')
const actionsOpen = cFunction<[Address, number, Address, number, number]>(
  'int posix_spawn_file_actions_addopen(uintptr_t actions, int fd, uintptr_t path, int flags, int mode)',
)
const actionsChdir = cFunction<[Address, Address]>('int posix_spawn_file_actions_addchdir_np(uintptr_t actions, uintptr_t path)')
const actionsCloseFrom = cFunction<[Address, number]>('int posix_spawn_file_actions_addclosefrom_np(uintptr_t actions, int from)')
const strerror = cFunction<[number], string>('const char *strerror(int errno)')

/** One start of a program. All its native memory is in one arena, which is kept until the thread has ended, also after `dispose`. */
export class Spawn implements Disposable {
  readonly #memory: SpawnMemory
  readonly #identity: Identity
  readonly #layout: Layout
  #ended: Promise<SpawnOutcome> | undefined

  /** @throws the system error of an invalid descriptor */
  constructor(call: SpawnCall) {
    this.#identity = call.identity
    this.#memory = borrowSpawnMemory(dataBytes(call))
    try {
      this.#layout = layOut(call, this.#memory)
    } catch (error) {
      giveBackSpawnMemory(this.#memory)
      throw error
    }
  }

  /**
   * Starts the program, and waits on the calling thread for at most `patienceMs`. The program inherits the current limits of the daemon.
   *
   * @returns undefined if the thread has not ended, because the kernel waits for a file system; `ended` settles when it answers
   * @throws the system error if the thread cannot be created or does not get the identity; then no program runs
   */
  run(patienceMs: number): SpawnOutcome | undefined {
    const { thread, go } = this.#memory
    const { calls, file, fileStart } = this.#layout
    thread.start(calls)
    try {
      this.#awaitIdentity()
      file.bytes.writeUInt8(fileStart)
    } finally {
      // Also after an exception, so that the thread ends. Without the first byte of its name the file cannot be executed.
      semaphorePost(go.address)
      thread.joinWithin(patienceMs)
    }
    return thread.isAlive ? undefined : this.#outcome()
  }

  /** Settles when the thread has ended, which may never happen. For a spawn whose `run` has returned undefined. */
  ended(): Promise<SpawnOutcome> {
    return (this.#ended ??= this.#pollThread())
  }

  /** Returns the memory when the thread has ended. */
  [Symbol.dispose](): void {
    if (this.#memory.thread.isAlive) void this.ended().then(() => this.#giveBack())
    else this.#giveBack()
  }

  #giveBack(): void {
    actionsDestroy(this.#memory.actions.address)
    giveBackSpawnMemory(this.#memory)
  }

  #awaitIdentity(): void {
    const { ready, until, userIds, groupIds } = this.#memory
    const { uid, gid, groups } = this.#identity
    writeDeadline(until, IDENTITY_DEADLINE_MS)
    while (semaphoreWait(ready.address, CLOCK_MONOTONIC, until.address) !== 0) {
      if (lastErrno() !== constants.errno.EINTR) throw systemError('sem_clockwait', lastErrno())
    }
    const hasIdentity = isAll(userIds, uid) && isAll(groupIds, gid) && isSame(this.#layout.groups, groups)
    if (!hasIdentity) throw systemError('setresuid', constants.errno.EPERM)
  }

  async #pollThread(): Promise<SpawnOutcome> {
    const { thread } = this.#memory
    for (let pauseMs = 1; !thread.joinWithin(0); pauseMs = Math.min(2 * pauseMs, LONGEST_POLL_MS)) {
      await delay(pauseMs, undefined, { ref: false })
    }
    return this.#outcome()
  }

  #outcome(): SpawnOutcome {
    const { pid, errorText } = this.#memory
    const started = pid.bytes.readInt32LE()
    if (started > 0) return { pid: started }
    const text = errorText.bytes.toString('latin1', 0, errorText.bytes.indexOf(0))
    return { failure: systemError('posix_spawn', errnoOf(text)) }
  }
}

/** The data of one call in its memory. */
interface Layout {
  readonly calls: readonly NativeCall[]
  /** Its first byte is 0 until the thread's identity has been checked, so nothing can be executed before that. */
  readonly file: Piece
  readonly fileStart: number
  /** The groups of the thread, valid when the thread has posted `ready`. */
  readonly groups: Piece
}

function dataBytes({ identity, file, cwd, stdio, argv, environment }: SpawnCall): number {
  const paths = typeof stdio === 'string' ? [file, cwd, stdio] : [file, cwd]
  return 2 * ID_BYTES * (identity.groups.length + 1) + [paths, argv, environment].reduce((sum, texts) => sum + stringBytes(texts), 1024)
}

function layOut({ identity, file: path, cwd, stdio, argv, environment }: SpawnCall, memory: SpawnMemory): Layout {
  const { arena, pid, actions, attributes, leaderAttributes, ready, go, errorText } = memory
  for (const { address } of [ready, go]) checkCall('sem_init', semaphoreInit(address, 0, 0))
  const file = arena.string(path)
  const fileStart = file.bytes.readUInt8()
  file.bytes.writeUInt8(0)
  const groups = arena.take(ID_BYTES * Math.min(identity.groups.length + 1, MOST_GROUPS))
  groups.bytes.fill(0xff)
  const terminal = typeof stdio === 'string' ? arena.string(stdio).address : undefined
  const spawn = [
    pid.address,
    file.address,
    actions.address,
    (terminal === undefined ? attributes : leaderAttributes).address,
    arena.strings(argv).address,
    arena.strings(environment).address,
  ]
  const calls = [
    ...identityCalls(identity, memory, groups),
    libraryCall('sem_post', [ready.address]),
    libraryCall('sem_wait', [go.address]),
    libraryCall('posix_spawn', spawn),
    // The result of posix_spawn(3) is not accessible, but the thread's errno has the same number: `%m` writes its text.
    libraryCall('snprintf', [errorText.address, { integer: errorText.bytes.length }, arena.string('%m').address]),
    systemCall('exit', []),
  ]
  // Last, because after this call the actions have to be destroyed, and nothing below may throw.
  createActions(actions.address, arena.string(cwd).address, terminal ?? (stdio as Exclude<typeof stdio, string>))
  return { calls, file, fileStart, groups }
}

/** The calls that change the identity of the thread, and those that read it afterwards. */
function identityCalls({ uid, gid, groups }: Identity, { arena, userIds, groupIds }: SpawnMemory, list: Piece): NativeCall[] {
  const wanted = arena.take(ID_BYTES * Math.max(groups.length, 1))
  for (const [index, group] of groups.entries()) wanted.bytes.writeUInt32LE(group, index * ID_BYTES)
  return [
    systemCall('setgroups', [{ integer: groups.length }, wanted.address]),
    systemCall('setresgid', [{ integer: gid }, { integer: gid }, { integer: gid }]),
    systemCall('setresuid', [{ integer: uid }, { integer: uid }, { integer: uid }]),
    systemCall('getresuid', addressesIn(userIds, ID_BYTES)),
    systemCall('getresgid', addressesIn(groupIds, ID_BYTES)),
    systemCall('getgroups', [{ integer: list.bytes.length / ID_BYTES }, list.address]),
  ]
}

/**
 * The actions of the child before the exec: it sets up its streams, closes all other descriptors and enters its directory. The directory comes
 * last, because its file system may never answer, and a child that waits must not keep pipes and connections of others open.
 */
function createActions(actions: Address, cwd: Address, stdio: Address | readonly [number, number, number]): void {
  checkErrno('posix_spawn', actionsInit(actions))
  try {
    if (typeof stdio === 'number') checkErrno('open', actionsOpen(actions, 0, stdio, O_RDWR, 0))
    const [input, output, error] = typeof stdio === 'number' ? [0, 0, 0] : stdio
    if (input !== 0) checkErrno('dup2', actionsDup2(actions, input, 0))
    checkErrno('dup2', actionsDup2(actions, output, 1))
    checkErrno('dup2', actionsDup2(actions, error, 2))
    checkErrno('close', actionsCloseFrom(actions, FIRST_OTHER_DESCRIPTOR))
    checkErrno('chdir', actionsChdir(actions, cwd))
  } catch (error) {
    actionsDestroy(actions)
    throw error
  }
}

function isAll({ bytes }: Piece, id: number): boolean {
  return toIds(bytes).every((one) => one === id)
}

/** Entries that the kernel has not written remain -1. */
function isSame({ bytes }: Piece, groups: readonly number[]): boolean {
  const [found, isEnded] = [toIds(bytes.subarray(0, -ID_BYTES)), bytes.readInt32LE(bytes.length - ID_BYTES) === -1]
  // Linux returns them sorted, gVisor as they were set.
  const [wanted, actual] = [groups, found].map((ids) => [...ids].sort((a, b) => a - b).join())
  return wanted === actual && isEnded
}

function toIds(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) => bytes.readUInt32LE(index * ID_BYTES))
}

let errnos: ReadonlyMap<string, number> | undefined

/** 0 if no error has this text; then the reason is unknown. */
function errnoOf(text: string): number {
  errnos ??= new Map(Array.from({ length: HIGHEST_ERRNO }, (_, index) => [strerror(index + 1), index + 1]))
  return errnos.get(text) ?? 0
}
