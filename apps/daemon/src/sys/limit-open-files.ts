import { constants } from 'node:os'
import { Arena } from './arena.ts'
import { systemError } from './errno-text.ts'
import { NativeThread, systemCall, threadBytes } from './native-thread.ts'
import { type OpenFileLimit, RLIMIT_NOFILE } from './own-process.ts'

const CALLS = 5
const LIMIT_BYTES = 16
/** For the two limits and the alignment of the pieces. */
const DATA_BYTES = 1024

/**
 * Sets the limit of open files of a process. Files that it has opened above the limit stay open.
 *
 * A container has no CAP_SYS_RESOURCE, and without it prlimit(2) takes only a caller with the user and group ids of the process. Therefore a
 * native thread with these ids makes the call.
 *
 * @throws the system error EPERM if the process has other ids, e.g. of a set-user-ID program
 */
export function limitOpenFilesOf(
  pid: number,
  { soft, hard }: OpenFileLimit,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): void {
  const arena = new Arena(threadBytes(CALLS) + DATA_BYTES)
  try {
    const thread = new NativeThread(arena, CALLS)
    const [wanted, applied] = [arena.take(LIMIT_BYTES), arena.take(LIMIT_BYTES)]
    wanted.bytes.writeBigUInt64LE(soft, 0)
    wanted.bytes.writeBigUInt64LE(hard, 8)
    const [process, resource, none] = [{ integer: pid }, { integer: RLIMIT_NOFILE }, { integer: 0 }]
    thread.start([
      systemCall('setresgid', [{ integer: gid }, { integer: gid }, { integer: gid }]),
      systemCall('setresuid', [{ integer: uid }, { integer: uid }, { integer: uid }]),
      systemCall('prlimit64', [process, resource, wanted.address, none]),
      systemCall('prlimit64', [process, resource, none, applied.address]),
      systemCall('exit', []),
    ])
    thread.join()
    if (!applied.bytes.equals(wanted.bytes)) throw systemError('prlimit', constants.errno.EPERM)
  } finally {
    arena.release()
  }
}
