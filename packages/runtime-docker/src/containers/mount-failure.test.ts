import { expect, it } from 'vitest'
import { findMountFailure } from './mount-failure.ts'

const START =
  '(HTTP code 400) unexpected - failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: '
const MOUNTING = `${START}error during container init: error mounting "/var/lib/docker/volumes/v/_data" to rootfs at `
const mount = (path: string) => ({ volume: 'v', path, readOnly: false })

it.each([
  [
    '/etc/version',
    `${MOUNTING}"/etc/version": mount /var/lib/docker/volumes/v/_data:/etc/version (via /proc/self/fd/6), flags: 0x5000: not a directory: unknown: Are you trying to mount a directory onto a file?`,
  ],
  ['/etc/version/a', `${MOUNTING}"/etc/version/a": open o_path procfd: open /overlay2/merged/etc/version/a: not a directory: unknown`],
  ['/etc/mtab', `${MOUNTING}"/etc/mtab": "/overlay2/merged/proc/1/mounts" cannot be mounted because it is inside /proc: unknown`],
  ['/etc/passwd', `${START}unable to setup user: unable to find user 0: read /etc/passwd: is a directory: unknown`],
])('finds the mount at %s by the message of the engine', (path, message) => {
  expect(findMountFailure(new Error(message), [mount('/data'), mount(path)])).toMatchObject({ kind: 'invalid_argument', path })
  expect(findMountFailure(new Error(message), [mount('/data')])).toBeUndefined()
})

it.each(['no such file or directory', `${MOUNTING}"/data": permission denied`, `${START}exec: "/data": not found`])(
  'finds none in %j',
  (message) => {
    expect(findMountFailure(new Error(message), [mount('/data')])).toBeUndefined()
  },
)
