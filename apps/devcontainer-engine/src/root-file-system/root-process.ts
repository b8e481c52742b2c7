import { join, relative } from 'node:path'
import type { RootUser } from './find-user.ts'
import { resolveInRoot } from './resolve-in-root.ts'

export interface Bind {
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
  /** Whether its processes in the background end with it. */
  readonly endsAll: boolean
}

/** Names and addresses of the sandbox, which its dev container shares. */
const SHARED_FILES = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf']

const SHARED: readonly Bind[] = ['/dev', '/proc', '/sys', ...SHARED_FILES].map((path) => ({ source: path, target: path }))

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The words of a process in the root file system. All of them are root for the kernel; proot answers with the ids of `user`, and honours set-uid programs such as sudo.
 * A real change of the id would shut proot out of the process, because a sandbox has no CAP_SYS_PTRACE.
 */
export function toWords({ proot, root, user, workingDirectory, binds, command, endsAll }: RootProcess): string[] {
  return [
    proot,
    ...(endsAll ? ['--kill-on-exit'] : []),
    '-i',
    `${user.uid}:${user.gid}`,
    '-r',
    root,
    ...[...SHARED, ...binds].flatMap(({ source, target }) => ['-b', `${source}:${target}`]),
    '-w',
    workingDirectory,
    ...command,
  ]
}

/** Of the sandbox, for the programs in a dev container: it shares the network, and so the way out of it. */
export function proxyVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, text]) => (/^(https?|no)_proxy$/i.test(name) && text !== undefined ? [[name, text]] : [])),
  )
}

/** Where the path of the root file system is, through links and binds. The last part may be missing. */
export async function findOutside(root: string, path: string, binds: readonly Bind[]): Promise<string> {
  const outside = await resolveInRoot(root, path)
  const inside = `/${relative(root, outside)}`
  const [bind] = [...SHARED, ...binds]
    .filter(({ target }) => inside === target || inside.startsWith(`${target.replace(/\/$/, '')}/`))
    .sort((a, b) => b.target.length - a.target.length)
  return bind === undefined ? outside : join(bind.source, inside.slice(bind.target.length))
}
