/**
 * inotify(7). All calls run on the calling thread. None of them blocks, except for the lookup of a path.
 * Callers must await `loadCLibrary` before the first call.
 */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { cFunction, checkCall, toCString } from './c-library.ts'
import { decodePath } from '../users/path-bytes.ts'
import { openPipe } from './descriptors.ts'

export const IN_MODIFY = 0x2
export const IN_ATTRIB = 0x4
export const IN_MOVED_FROM = 0x40
export const IN_MOVED_TO = 0x80
export const IN_CREATE = 0x100
export const IN_DELETE = 0x200
export const IN_DELETE_SELF = 0x400
export const IN_MOVE_SELF = 0x800
export const IN_Q_OVERFLOW = 0x4000
export const IN_IGNORED = 0x8000
export const IN_ONLYDIR = 0x1000000
export const IN_DONT_FOLLOW = 0x2000000
export const IN_MASK_ADD = 0x20000000
export const IN_ISDIR = 0x40000000

const IN_NONBLOCK = 0o4000
const O_CLOEXEC = 0o2000000
const FIONREAD = 0x541b

/** Descriptor, mask, cookie and length of the name, 32 bits each, little-endian on both processors that the daemon supports (c-library.ts). */
const HEAD_BYTES = 16
/** Space for hundreds of events; the kernel requires space for one with the longest name. */
const READ_BYTES = 64 * 1024
const inotifyInit = cFunction<[number]>('int inotify_init1(int flags)')
const addWatch = cFunction<[number, string | Buffer, number]>('int inotify_add_watch(int fd, const char *path, uint32_t mask)')
const removeWatch = cFunction<[number, number]>('int inotify_rm_watch(int fd, int wd)')
const read = cFunction<[number, Buffer, number]>('long read(int fd, void *buffer, size_t size)')
const ioctl = cFunction<[number, number, number[]]>('int ioctl(int fd, unsigned long request, _Out_ int *value)')
const dup3 = cFunction<[number, number, number]>('int dup3(int from, int to, int flags)')

/** One event of the kernel. */
export interface InotifyEvent {
  /** -1 for an overflow of the queue, which belongs to no directory. */
  readonly wd: number
  readonly mask: number
  /** The same number in the two halves of a rename. */
  readonly cookie: number
  /** The name of the entry in the form of `users/path-bytes.ts`; empty for events of the watched directory itself. */
  readonly name: string
}

/**
 * One inotify instance. Its events come in the kernel's order, from the event loop or from `drain`, and no thread waits for them: libuv
 * polls the descriptor as it does a pipe's.
 */
export class Inotify {
  readonly #fd: number
  readonly #socket: Socket
  readonly #onEvents: (events: InotifyEvent[]) => void
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES)

  /**
   * @param onEvents is called with the events of each read
   * @throws the system error: `EMFILE` at the host's limit of instances for a user
   */
  constructor(onEvents: (events: InotifyEvent[]) => void) {
    this.#onEvents = onEvents
    const inotify = checkCall('inotify_init1', inotifyInit(IN_NONBLOCK | O_CLOEXEC))
    try {
      ;({ fd: this.#fd, socket: this.#socket } = pollAsPipe(inotify, this.#buffer, (bytes) => this.#parse(bytes)))
    } finally {
      closeSync(inotify)
    }
  }

  /**
   * Watches the inode at a path, or changes the mask of its existing watch.
   *
   * @returns the watch descriptor, one for each inode; a number is reused only after two billion others
   * @throws the system error: `ENOSPC` at the host's limit of watches for a user
   */
  add(path: string | Buffer, mask: number): number {
    return checkCall('inotify_add_watch', addWatch(this.#fd, toCString(path), mask))
  }

  /** Does nothing if the kernel has already removed the watch together with its directory. */
  remove(wd: number): void {
    removeWatch(this.#fd, wd)
  }

  /** Delivers every event that happened before the call, and perhaps some that happen during it. */
  drain(): void {
    for (let left = this.#pendingBytes(); left > 0;) {
      const bytes = read(this.#fd, this.#buffer, READ_BYTES)
      if (bytes <= 0) return
      left -= bytes
      this.#parse(bytes)
    }
  }

  /** Ends all watches. Blocks the thread for some milliseconds. */
  close(): void {
    this.#socket.destroy()
  }

  #pendingBytes(): number {
    const pending = [0]
    return ioctl(this.#fd, FIONREAD, pending) < 0 ? 0 : (pending[0] ?? 0)
  }

  #parse(bytes: number): void {
    const events: InotifyEvent[] = []
    for (let at = 0; at < bytes;) {
      const nameBytes = this.#buffer.readUInt32LE(at + 12)
      events.push({
        wd: this.#buffer.readInt32LE(at),
        mask: this.#buffer.readUInt32LE(at + 4),
        cookie: this.#buffer.readUInt32LE(at + 8),
        name: readName(this.#buffer.subarray(at + HEAD_BYTES, at + HEAD_BYTES + nameBytes)),
      })
      at += HEAD_BYTES + nameBytes
    }
    this.#onEvents(events)
  }
}

/**
 * Node has no class for a descriptor that can only be polled and read. A socket of a pipe can do that. It checks the type of its descriptor only in
 * its constructor, so dup3(2) replaces the pipe by the inotify instance afterwards.
 */
function pollAsPipe(inotify: number, buffer: Buffer, onRead: (bytes: number) => void): { fd: number; socket: Socket } {
  const { read: fd, write } = openPipe()
  closeSync(write)
  const onread = { buffer, callback: (bytes: number) => (onRead(bytes), true) }
  const socket = new Socket({ fd, readable: true, writable: false, onread })
  socket.on('error', () => undefined)
  checkCall('dup3', dup3(inotify, fd, O_CLOEXEC))
  // A watch does not keep the process from exiting.
  socket.resume().unref()
  return { fd, socket }
}

/** The kernel pads names with zeros. */
function readName(padded: Buffer): string {
  const end = padded.indexOf(0)
  return decodePath(end < 0 ? padded : padded.subarray(0, end))
}
