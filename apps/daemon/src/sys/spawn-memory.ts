import { type Address, Arena, type Piece } from './arena.ts'
import { cFunction, checkErrno } from './c-library.ts'
import { NativeThread, threadBytes } from './native-thread.ts'

const SPAWN_SETSIGDEF = 0x04
const SPAWN_SETSIGMASK = 0x08
const SPAWN_SETSID = 0x80
/** glibc has 336, 80, 128 and 32 bytes. */
const [ATTRIBUTES_BYTES, ACTIONS_BYTES, SIGNAL_SET_BYTES, SEMAPHORE_BYTES] = [1024, 256, 128, 64]
const TIMESPEC_BYTES = 16
const ERROR_TEXT_BYTES = 256
const THREE_IDS_BYTES = 12
/** For the fixed parts, without the thread and the data of the call. */
const FIXED_BYTES = 8 * 1024
/** A call with more data than this gets memory of the needed size, which is not reused. */
const COMMON_DATA_BYTES = 64 * 1024

const attributesInit = cFunction<[Address]>('int posix_spawnattr_init(uintptr_t attributes)')
const attributesFlags = cFunction<[Address, number]>('int posix_spawnattr_setflags(uintptr_t attributes, int16_t flags)')
const attributesDefaults = cFunction<[Address, Address]>('int posix_spawnattr_setsigdefault(uintptr_t attributes, uintptr_t signals)')
const attributesMask = cFunction<[Address, Address]>('int posix_spawnattr_setsigmask(uintptr_t attributes, uintptr_t signals)')

/** How many calls the thread of a spawn makes. */
const SPAWN_CALLS = 11

/** All memory of one spawn. The fixed parts are created once and reused by later spawns; the data of each call follows them. */
export interface SpawnMemory {
  readonly arena: Arena
  readonly thread: NativeThread
  /** The position where the data of a call begins. */
  readonly mark: number
  readonly pid: Piece
  readonly errorText: Piece
  readonly userIds: Piece
  readonly groupIds: Piece
  readonly ready: Piece
  readonly go: Piece
  readonly until: Piece
  readonly actions: Piece
  readonly attributes: Piece
  /** For a program that leads a session: the first terminal that it opens becomes its controlling terminal. */
  readonly leaderAttributes: Piece
}

let spare: SpawnMemory | undefined

/** Memory with room for `dataBytes`. The caller returns it with `giveBackSpawnMemory` when no thread uses it any more. */
export function borrowSpawnMemory(dataBytes: number): SpawnMemory {
  const kept = spare
  if (kept === undefined || kept.arena.freeBytes < dataBytes) return createMemory(Math.max(dataBytes, COMMON_DATA_BYTES))
  spare = undefined
  for (const { bytes } of [kept.pid, kept.errorText]) bytes.fill(0)
  for (const { bytes } of [kept.userIds, kept.groupIds]) bytes.fill(0xff)
  return kept
}

/** One memory of the common size is kept for the next spawn. */
export function giveBackSpawnMemory(memory: SpawnMemory): void {
  memory.arena.reset(memory.mark)
  if (spare === undefined && memory.arena.freeBytes <= COMMON_DATA_BYTES + FIXED_BYTES) spare = memory
  else memory.arena.release()
}

function createMemory(dataBytes: number): SpawnMemory {
  const arena = new Arena(threadBytes(SPAWN_CALLS) + FIXED_BYTES + dataBytes)
  try {
    const parts = {
      arena,
      thread: new NativeThread(arena, SPAWN_CALLS),
      pid: arena.take(4),
      errorText: arena.take(ERROR_TEXT_BYTES),
      userIds: arena.take(THREE_IDS_BYTES),
      groupIds: arena.take(THREE_IDS_BYTES),
      ready: arena.take(SEMAPHORE_BYTES),
      go: arena.take(SEMAPHORE_BYTES),
      until: arena.take(TIMESPEC_BYTES),
      actions: arena.take(ACTIONS_BYTES),
      attributes: createAttributes(arena, 0),
      leaderAttributes: createAttributes(arena, SPAWN_SETSID),
    }
    for (const { bytes } of [parts.userIds, parts.groupIds]) bytes.fill(0xff)
    return { ...parts, mark: arena.mark }
  } catch (error) {
    arena.release()
    throw error
  }
}

/** No signal is blocked in the program, and each has its default action. */
function createAttributes(arena: Arena, flags: number): Piece {
  const attributes = arena.take(ATTRIBUTES_BYTES)
  const [all, none] = [arena.take(SIGNAL_SET_BYTES), arena.take(SIGNAL_SET_BYTES)]
  all.bytes.fill(0xff)
  checkErrno('posix_spawn', attributesInit(attributes.address))
  checkErrno('posix_spawn', attributesDefaults(attributes.address, all.address))
  checkErrno('posix_spawn', attributesMask(attributes.address, none.address))
  checkErrno('posix_spawn', attributesFlags(attributes.address, SPAWN_SETSIGDEF | SPAWN_SETSIGMASK | flags))
  return attributes
}
