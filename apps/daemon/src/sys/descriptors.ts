import { cFunction, checkCall } from './c-library.ts'

const O_CLOEXEC = 0o2000000
const F_DUPFD_CLOEXEC = 1030

const pipe2 = cFunction<[number[], number]>('int pipe2(_Out_ int *fds, int flags)')
const fcntl = cFunction<[number, number, number]>('int fcntl(int fd, int command, long argument)')

/** A pipe that no program inherits unless its end is handed over. */
export function openPipe(): { readonly read: number; readonly write: number } {
  const fds = [-1, -1]
  checkCall('pipe2', pipe2(fds, O_CLOEXEC))
  const [read = -1, write = -1] = fds
  return { read, write }
}

/** A second descriptor of the same open file, which stays open when the first is closed. No program inherits it. */
export function duplicate(fd: number): number {
  return checkCall('fcntl', fcntl(fd, F_DUPFD_CLOEXEC, 0))
}
