/**
 * Extended attributes, which Node does not support. Every call runs on the thread pool, like those of `node:fs`, and fails with
 * similar errors. Names are byte strings (latin1), since the kernel requires no encoding.
 */
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { asyncCFunction, cFunction, loadCLibrary, toCString } from './c-library.ts'

/** A path, of which links are followed, or an open file. */
export type XattrTarget = string | Buffer | number

/** Nearly every list and value fits; a larger one is read again with its size. */
const FIRST_GUESS_BYTES = 512

/** koffi keeps memory for this many calls and refuses more than 256. The thread pool has fewer threads. */
const inFlight = new Semaphore(8)

const listNow = cFunction<[string | Buffer, null, 0]>('long listxattr(const void *path, void *list, size_t size)')
const list = limited('long listxattr(const void *path, void *list, size_t size)')
const flist = limited('long flistxattr(int fd, void *list, size_t size)')
const get = limited('long getxattr(const void *path, const void *name, void *value, size_t size)')
const fget = limited('long fgetxattr(int fd, const void *name, void *value, size_t size)')
const fset = limited('int fsetxattr(int fd, const void *name, const void *value, size_t size, int flags)')
const fremove = limited('int fremovexattr(int fd, const void *name)')

/** @throws the error of listxattr(2): `ENOTSUP` if the file system has no attributes */
export async function listXattrs(target: XattrTarget): Promise<string[]> {
  await loadCLibrary()
  const bytes = await readSized((buffer) =>
    typeof target === 'number' ? flist(target, buffer, buffer.length) : list(toCString(target), buffer, buffer.length),
  )
  return bytes.length === 0 ? [] : bytes.toString('latin1', 0, bytes.length - 1).split('\0')
}

/**
 * Loads a function that checks whether a path has attributes. It runs on the calling thread: if the kernel has the inode in memory it
 * takes a microsecond, a tenth of a call on the thread pool; otherwise it may wait for a disk.
 */
export async function loadXattrProbe(): Promise<(path: string | Buffer) => boolean> {
  await loadCLibrary()
  return (path) => listNow(toCString(path), null, 0) > 0
}

/** @throws the error of getxattr(2): `ENODATA` if there is no such attribute */
export async function getXattr(target: XattrTarget, name: string): Promise<Buffer> {
  await loadCLibrary()
  const attribute = toCString(Buffer.from(name, 'latin1'))
  return readSized((buffer) =>
    typeof target === 'number' ? fget(target, attribute, buffer, buffer.length) : get(toCString(target), attribute, buffer, buffer.length),
  )
}

/** Creates or replaces an attribute of an open file. */
export async function setXattr(fd: number, name: string, value: Buffer): Promise<void> {
  await loadCLibrary()
  await fset(fd, toCString(Buffer.from(name, 'latin1')), value, value.length, 0)
}

/** @throws the error of fremovexattr(2): `ENODATA` if there is no such attribute */
export async function removeXattr(fd: number, name: string): Promise<void> {
  await loadCLibrary()
  await fremove(fd, toCString(Buffer.from(name, 'latin1')))
}

function limited(prototype: string): ReturnType<typeof asyncCFunction> {
  const call = asyncCFunction(prototype)
  return (...args) => inFlight.run(() => call(...args))
}

/** Reads a value of unknown size, which may change between two calls. */
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
