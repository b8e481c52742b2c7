/**
 * inotify(7). The calls run on the calling thread; none of them waits but for a path to be looked up.
 * Loading this loads the foreign-function library: import it late.
 */
import { Socket } from 'node:net'
import koffi from 'koffi'
import { openPipe } from './libc.ts'
import { systemError } from './errno-text.ts'

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
export const IN_ISDIR = 0x40000000

const IN_NONBLOCK = 0o4000
const O_CLOEXEC = 0o2000000
const FIONREAD = 0x541b

/** Descriptor, mask, cookie and length of the name, 32 bits each, little-endian as the processors that the daemon knows (libc.ts). */
const HEAD_BYTES = 16
/** Hundreds of events; the kernel wants room for one of the longest name. */
const READ_BYTES = 64 * 1024
const libc = koffi.load(null)
const native = {
  init: libc.func('int inotify_init1(int flags)') as (flags: number) => number,
  add: libc.func('int inotify_add_watch(int fd, const void *path, uint32_t mask)') as (fd: number, path: Buffer, mask: number) => number,
  remove: libc.func('int inotify_rm_watch(int fd, int wd)') as (fd: number, wd: number) => number,
  read: libc.func('long read(int fd, void *buffer, size_t size)') as (fd: number, buffer: Buffer, size: number) => number,
  ioctl: libc.func('int ioctl(int fd, unsigned long request, _Out_ int *value)') as (
    fd: number,
    request: number,
    value: number[],
  ) => number,
  dup3: libc.func('int dup3(int from, int to, int flags)') as (from: number, to: number, flags: number) => number,
  close: libc.func('int close(int fd)') as (fd: number) => number,
}

/** One event as the kernel tells it. */
export interface InotifyEvent {
  /** -1 for an overflow of the queue, which is of no directory. */
  readonly wd: number
  readonly mask: number
  /** The same number in the two halves of a rename. */
  readonly cookie: number
  /** Of the entry, as bytes (latin1); empty where the event is of the watched directory itself. */
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
   * @param onEvents is called with what one read brought
   * @throws the system error: `EMFILE` at the host's limit of instances for a user
   */
  constructor(onEvents: (events: InotifyEvent[]) => void) {
    this.#onEvents = onEvents
    const inotify = native.init(IN_NONBLOCK | O_CLOEXEC)
    if (inotify < 0) throw systemError('inotify_init1', koffi.errno())
    try {
      ;({ fd: this.#fd, socket: this.#socket } = pollAsPipe(inotify, this.#buffer, (bytes) => this.#parse(bytes)))
    } finally {
      native.close(inotify)
    }
  }

  /**
   * Watches what is at a path, or changes the mask of a watch of the same inode.
   *
   * @returns the watch descriptor, one for each inode; a number is used again only after two thousand million others
   * @throws the system error: `ENOSPC` at the host's limit of watches for a user
   */
  add(path: string | Buffer, mask: number): number {
    const wd = native.add(this.#fd, Buffer.concat([Buffer.from(path), Buffer.of(0)]), mask)
    if (wd < 0) throw systemError('inotify_add_watch', koffi.errno())
    return wd
  }

  /** Does nothing where the kernel has already removed the watch, with its directory. */
  remove(wd: number): void {
    native.remove(this.#fd, wd)
  }

  /** Hands over every event that has happened by now. Those that happen meanwhile may come too, without end they do not. */
  drain(): void {
    for (let left = this.#pendingBytes(); left > 0;) {
      const bytes = native.read(this.#fd, this.#buffer, READ_BYTES)
      if (bytes <= 0) return
      left -= bytes
      this.#parse(bytes)
    }
  }

  /** Ends all watches. The kernel takes some milliseconds for it, during which the thread waits. */
  close(): void {
    this.#socket.destroy()
  }

  #pendingBytes(): number {
    const pending = [0]
    return native.ioctl(this.#fd, FIONREAD, pending) < 0 ? 0 : (pending[0] ?? 0)
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
 * Node has no class for a descriptor that can only be polled and read. A socket of a pipe does exactly that, and looks at what it has
 * been given when it is made: the instance takes the pipe's place right after.
 */
function pollAsPipe(inotify: number, buffer: Buffer, onRead: (bytes: number) => void): { fd: number; socket: Socket } {
  const { read: fd, write } = openPipe()
  native.close(write)
  const onread = { buffer, callback: (bytes: number) => (onRead(bytes), true) }
  const socket = new Socket({ fd, readable: true, writable: false, onread })
  socket.on('error', () => undefined)
  if (native.dup3(inotify, fd, O_CLOEXEC) < 0) throw systemError('dup3', koffi.errno())
  // Watching keeps nothing alive that is about to end.
  socket.resume().unref()
  return { fd, socket }
}

/** The kernel pads names with zeros. */
function readName(padded: Buffer): string {
  const end = padded.indexOf(0)
  return padded.toString('latin1', 0, end < 0 ? padded.length : end)
}
