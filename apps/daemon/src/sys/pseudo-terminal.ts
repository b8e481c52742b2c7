import { closeSync, constants, openSync } from 'node:fs'
import koffi from 'koffi'
import { systemError } from './errno-text.ts'

/** Requests of ioctl_tty(2), the same on all processors that the daemon knows. */
const [TIOCGPTN, TIOCSPTLCK, TIOCSWINSZ] = [0x8004_5430, 0x4004_5431, 0x5414]
const WINDOW_SIZE_BYTES = 8
const F_DUPFD_CLOEXEC = 1030

const libc = koffi.load(null)
const ioctl = libc.func('int ioctl(int fd, unsigned long request, void *argument)')
const fcntl = libc.func('int fcntl(int fd, int command, long argument)')

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

export interface PseudoTerminal {
  /** Never blocks: reading and writing fail with EAGAIN where they would. */
  readonly master: number
  /** What programs open. It belongs to the calling thread's user. */
  readonly path: string
}

/** @throws the system error, such as ENOSPC when there are no more terminals */
export function openPseudoTerminal(size: TerminalSize): PseudoTerminal {
  const master = openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  try {
    control(master, TIOCSPTLCK, Buffer.alloc(4))
    const number = Buffer.alloc(4)
    control(master, TIOCGPTN, number)
    resizeTerminal(master, size)
    return { master, path: `/dev/pts/${number.readUInt32LE()}` }
  } catch (error) {
    closeSync(master)
    throw error
  }
}

/** A second descriptor of the same open file, which stays open when the first is closed. */
export function duplicate(fd: number): number {
  const result = fcntl(fd, F_DUPFD_CLOEXEC, 0) as number
  if (result < 0) throw systemError('fcntl', koffi.errno())
  return result
}

/** Programs in the foreground get SIGWINCH when the size is another than before. Only 16 bits of each number count (envd.md 8.5). */
export function resizeTerminal(master: number, { cols, rows }: TerminalSize): void {
  const size = Buffer.alloc(WINDOW_SIZE_BYTES)
  size.writeUInt16LE(rows & 0xffff, 0)
  size.writeUInt16LE(cols & 0xffff, 2)
  control(master, TIOCSWINSZ, size)
}

function control(fd: number, request: number, argument: Buffer): void {
  if ((ioctl(fd, request, argument) as number) !== 0) throw systemError('ioctl', koffi.errno())
}
