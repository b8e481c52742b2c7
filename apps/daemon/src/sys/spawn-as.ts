import { arch } from 'node:process'
import koffi from 'koffi'
import { addressOf, canRunOnThread, findFunction, type NativeCall, runOnThread } from './native-thread.ts'

export interface Identity {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

/** The arguments of posix_spawn(3). */
export interface SpawnCall {
  readonly file: string
  readonly argv: readonly string[]
  readonly environment: readonly string[]
  readonly actions: Buffer
  readonly attributes: Buffer
}

/** System call numbers, which differ by processor. The C library's functions of these names change every thread of a process. */
const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, Readonly<Record<Syscall, number>>>>> = {
  x64: { setgroups: 116, getgroups: 115, setresgid: 119, getresgid: 120, setresuid: 117, getresuid: 118, exit: 60 },
  arm64: { setgroups: 159, getgroups: 158, setresgid: 149, getresgid: 150, setresuid: 147, getresuid: 148, exit: 93 },
}
type Syscall = 'setgroups' | 'getgroups' | 'setresgid' | 'getresgid' | 'setresuid' | 'getresuid' | 'exit'

/** Linux has no more groups than this. */
const MOST_GROUPS = 65_536
const SEMAPHORE_BYTES = 64

const libc = koffi.load(null)
const semaphoreInit = libc.func('int sem_init(void *semaphore, int shared, unsigned int value)')
const semaphoreWait = libc.func('int sem_wait(void *semaphore)')
const semaphorePost = libc.func('int sem_post(void *semaphore)')

const isSupported = canRunOnThread() && NUMBERS[arch] !== undefined

/**
 * posix_spawn(3) with another identity, on a thread that has it and ends: at no time could a process of that identity signal the daemon, as
 * it could if the daemon's first thread took it for a moment.
 *
 * @returns the pid; undefined where nothing was started, for a reason that cannot be told
 */
export function spawnAs(identity: Identity, call: SpawnCall): number | undefined {
  if (!isSupported) return undefined
  const [pid, file] = [Buffer.alloc(4), Buffer.from(`${call.file}\0`)]
  const [argv, environment] = [toStrings(call.argv), toStrings(call.environment)]
  const [ready, go] = [createSemaphore(), createSemaphore()]
  const became = takeIdentity(identity)
  const spawn = [pid, file, call.actions, call.attributes, argv.pointers, environment.pointers].map(addressOf)
  runOnThread(
    [
      ...became.calls,
      libraryCall('sem_post', [addressOf(ready)]),
      libraryCall('sem_wait', [addressOf(go)]),
      libraryCall('posix_spawn', spawn),
      systemCall('exit', []),
    ],
    () => {
      while (semaphoreWait(ready) !== 0);
      // The thread goes on whatever failed: there must be nothing then that it could execute.
      if (!became.isRight()) file[0] = 0
      semaphorePost(go)
    },
  )
  return pid.readInt32LE() > 0 ? pid.readInt32LE() : undefined
}

/** The calls that change the thread's identity, and whether they did. */
function takeIdentity({ uid, gid, groups }: Identity): { readonly calls: readonly NativeCall[]; isRight(): boolean } {
  const wanted = Buffer.from(Uint32Array.from(groups).buffer)
  const [uids, gids, list] = [
    Buffer.alloc(12, 0xff),
    Buffer.alloc(12, 0xff),
    Buffer.alloc(4 * Math.min(groups.length + 1, MOST_GROUPS), 0xff),
  ]
  const threeOf = (bytes: Buffer): bigint[] => [0n, 4n, 8n].map((at) => addressOf(bytes) + at)
  return {
    calls: [
      systemCall('setgroups', [groups.length, addressOf(wanted)]),
      systemCall('setresgid', [gid, gid, gid]),
      systemCall('setresuid', [uid, uid, uid]),
      systemCall('getresuid', threeOf(uids)),
      systemCall('getresgid', threeOf(gids)),
      systemCall('getgroups', [list.length / 4, addressOf(list)]),
    ],
    isRight: () => isAll(uids, uid) && isAll(gids, gid) && isSame(list, groups),
  }
}

function isAll(bytes: Buffer, id: number): boolean {
  return toIds(bytes).every((one) => one === id)
}

/** The kernel sorts groups. */
function isSame(list: Buffer, groups: readonly number[]): boolean {
  const sorted = [...groups].sort((a, b) => a - b)
  return (
    toIds(list)
      .slice(0, groups.length)
      .every((group, index) => group === sorted[index]) && list.readInt32LE(list.length - 4) === -1
  )
}

function toIds(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4))
}

function createSemaphore(): Buffer {
  const semaphore = Buffer.alloc(SEMAPHORE_BYTES)
  semaphoreInit(semaphore, 0, 0)
  return semaphore
}

function libraryCall(name: string, values: NativeCall['values']): NativeCall {
  const address = findFunction(name)
  if (address === undefined) throw new Error(`the C library has no ${name}`)
  return { address, values }
}

function systemCall(name: Syscall, values: NativeCall['values']): NativeCall {
  return libraryCall('syscall', [NUMBERS[arch]?.[name] ?? -1, ...values])
}

/** A vector of strings as programs get it: addresses, and a last one that is none. */
function toStrings(texts: readonly string[]): { readonly pointers: Buffer; readonly bytes: Buffer } {
  const bytes = Buffer.from(texts.map((text) => `${text}\0`).join(''))
  const pointers = Buffer.alloc(8 * (texts.length + 1))
  let at = addressOf(bytes)
  for (const [index, text] of texts.entries()) {
    pointers.writeBigUInt64LE(at, index * 8)
    at += BigInt(Buffer.byteLength(text) + 1)
  }
  return { pointers, bytes }
}
