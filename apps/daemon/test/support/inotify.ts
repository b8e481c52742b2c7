import koffi from 'koffi'

const libc = koffi.load(null)
const inotifyInit = libc.func('int inotify_init1(int flags)') as (flags: number) => number
const inotifyAddWatch = libc.func('int inotify_add_watch(int fd, const char *path, uint32_t mask)') as (
  fd: number,
  path: string,
  mask: number,
) => number
const read = libc.func('long read(int fd, void *buffer, size_t size)') as (fd: number, buffer: Buffer, size: number) => number
const close = libc.func('int close(int fd)') as (fd: number) => number

const IN_NONBLOCK = 0o4000
const IN_CLOEXEC = 0o2000000
const NAMES = new Map([
  [0x2, 'WRITE'],
  [0x4, 'CHMOD'],
  [0x40, 'MOVED_FROM'],
  [0x80, 'MOVED_TO'],
  [0x100, 'CREATE'],
  [0x200, 'REMOVE'],
])
const EVENT_BYTES = 16

/** The kernel's events for a directory, with the event mask of a watcher. */
export class DirectoryEvents implements Disposable {
  readonly #fd = inotifyInit(IN_NONBLOCK | IN_CLOEXEC)

  constructor(directory: string) {
    const mask = [...NAMES.keys()].reduce((all, bit) => all | bit, 0)
    if (inotifyAddWatch(this.#fd, directory, mask) < 0) throw new Error(`cannot watch ${directory}`)
  }

  /** The events since the last call, as `KIND name`. The kernel merges equal neighbours. */
  take(): string[] {
    const buffer = Buffer.alloc(64 * 1024)
    const length = Math.max(0, read(this.#fd, buffer, buffer.length))
    const events: string[] = []
    for (let at = 0; at < length;) {
      const nameBytes = buffer.readUInt32LE(at + 12)
      const name = buffer.toString('utf8', at + EVENT_BYTES, at + EVENT_BYTES + nameBytes).replace(/\0+$/, '')
      events.push(`${NAMES.get(buffer.readUInt32LE(at + 4) & 0xffff) ?? 'OTHER'} ${name}`)
      at += EVENT_BYTES + nameBytes
    }
    return events
  }

  [Symbol.dispose](): void {
    close(this.#fd)
  }
}
