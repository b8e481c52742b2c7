import type { RootUser } from './find-user.ts'

interface Bind {
  readonly source: string
  readonly target: string
}

export interface RootProcess {
  readonly proot: string
  readonly root: string
  readonly user: RootUser
  readonly workingDirectory: string
  readonly binds: readonly Bind[]
  readonly command: readonly string[]
}

/** Names and addresses of the sandbox, which its dev container shares. */
const SHARED_FILES = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf']

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The words of a process in the root file system. All of them are root for the kernel; proot answers with the ids of `user`, and honours set-uid programs such as sudo.
 * A real change of the id would shut proot out of the process, because a sandbox has no CAP_SYS_PTRACE.
 */
export function toWords({ proot, root, user, workingDirectory, binds, command }: RootProcess): string[] {
  const shared = ['/dev', '/proc', '/sys', ...SHARED_FILES].map((path) => ({ source: path, target: path }))
  return [
    proot,
    '--kill-on-exit',
    '-i',
    `${user.uid}:${user.gid}`,
    '-r',
    root,
    ...[...shared, ...binds].flatMap(({ source, target }) => ['-b', `${source}:${target}`]),
    '-w',
    workingDirectory,
    ...command,
  ]
}
