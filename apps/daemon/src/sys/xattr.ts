/**
 * Extended attributes, which Node has no calls for. Every call runs on the thread pool, as those of `node:fs` do, and fails with
 * an error like theirs. Names are byte strings (latin1), since the kernel holds them to no encoding.
 */
import { Semaphore } from '@sandyard/kit/async/semaphore'
import type Koffi from 'koffi'
import { systemError } from './errno-text.ts'

/** A path, of which links are followed, or an open file. */
export type XattrTarget = string | Buffer | number

/** Nearly every list and value fits; what does not is asked again with its size. */
const FIRST_GUESS_BYTES = 512

/** As many calls as koffi keeps memory ready for; it refuses more than 256, and the thread pool is narrower than either. */
const inFlight = new Semaphore(8)

/** @throws the error of listxattr(2): `ENOTSUP` where the file system has none */
export async function listXattrs(target: XattrTarget): Promise<string[]> {
  const { list, flist } = await calls()
  const bytes = await readSized((buffer) =>
    typeof target === 'number' ? flist(target, buffer, buffer.length) : list(toC(target), buffer, buffer.length),
  )
  return bytes.length === 0 ? [] : bytes.toString('latin1', 0, bytes.length - 1).split('\0')
}

/**
 * Loads a call that says whether a path has any attributes. It is made on the calling thread: where the kernel holds the inode in
 * memory it takes a microsecond, a tenth of what a visit to the thread pool takes; elsewhere it may have to wait for a disk.
 */
export async function loadXattrProbe(): Promise<(path: string | Buffer) => boolean> {
  const { listNow } = await calls()
  return (path) => listNow(toC(path), null, 0) > 0
}

/** @throws the error of getxattr(2): `ENODATA` where the attribute is not there */
export async function getXattr(target: XattrTarget, name: string): Promise<Buffer> {
  const { get, fget } = await calls()
  const attribute = toC(Buffer.from(name, 'latin1'))
  return readSized((buffer) =>
    typeof target === 'number' ? fget(target, attribute, buffer, buffer.length) : get(toC(target), attribute, buffer, buffer.length),
  )
}

/** Creates or replaces an attribute of an open file. */
export async function setXattr(fd: number, name: string, value: Buffer): Promise<void> {
  const { fset } = await calls()
  await fset(fd, toC(Buffer.from(name, 'latin1')), value, value.length, 0)
}

/** @throws the error of fremovexattr(2): `ENODATA` where the attribute is not there */
export async function removeXattr(fd: number, name: string): Promise<void> {
  const { fremove } = await calls()
  await fremove(fd, toC(Buffer.from(name, 'latin1')))
}

type Call = (...args: readonly unknown[]) => Promise<number>
let bound: Promise<ReturnType<typeof bind>> | undefined

/** Loading the foreign-function library takes longer than the rest of the daemon's start, so it waits for the first use. */
function calls(): Promise<ReturnType<typeof bind>> {
  bound ??= import('koffi').then(bind)
  return bound
}

function bind({ default: koffi }: { default: typeof Koffi }) {
  const libc = koffi.load(null)
  function call(definition: string): Call {
    const native = libc.func(definition)
    return (...args) =>
      inFlight.run(
        () =>
          new Promise((resolve, reject) => {
            native.async(...args, (error: Error | null, result: number) => {
              if (error !== null) reject(error)
              // koffi hands the worker thread's errno over for the length of this callback.
              else if (result < 0) reject(systemError(native.info.name, koffi.errno()))
              else resolve(result)
            })
          }),
      )
  }
  return {
    listNow: libc.func('long listxattr(const void *path, void *list, size_t size)') as (
      path: string | Buffer,
      list: null,
      size: 0,
    ) => number,
    list: call('long listxattr(const void *path, void *list, size_t size)'),
    flist: call('long flistxattr(int fd, void *list, size_t size)'),
    get: call('long getxattr(const void *path, const void *name, void *value, size_t size)'),
    fget: call('long fgetxattr(int fd, const void *name, void *value, size_t size)'),
    fset: call('int fsetxattr(int fd, const void *name, const void *value, size_t size, int flags)'),
    fremove: call('int fremovexattr(int fd, const void *name)'),
  }
}

/** Reads what has a size of its own that may also change between two looks. */
async function readSized(read: (buffer: Buffer) => Promise<number>): Promise<Buffer> {
  for (let buffer = Buffer.allocUnsafe(FIRST_GUESS_BYTES); ;) {
    try {
      return buffer.subarray(0, await read(buffer))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERANGE') throw error
    }
    const size = await read(Buffer.alloc(0))
    buffer = Buffer.allocUnsafe(size + FIRST_GUESS_BYTES)
  }
}

/** koffi copies strings; buffers go as they are, and their NUL must be in them. */
function toC(text: string | Buffer): string | Buffer {
  return typeof text === 'string' ? text : Buffer.concat([text, Buffer.of(0)])
}
