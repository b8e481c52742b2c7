import { basename } from 'node:path'
import { compareVersions, parseVersion } from '../engine/version-number.ts'
import { SECCOMP_FILE } from './seccomp-profile.ts'

/** What the engine says of seccomp in `/info`. */
export interface SeccompFacts {
  /** The engine and its kernel have filters. */
  readonly isSupported: boolean
  /** The profile of containers that do not bring their own, as the engine names it: `default` or `builtin`, `unconfined`, or the path of a file. */
  readonly defaultProfile: string
}

interface StepRight {
  readonly right: string
  /** The first engine whose own profile denies it; undefined when every version allows it. */
  readonly deniedSince?: string
}

/** What the engine's own profile allows that `SECCOMP_PROFILE` denies. Source: the history of seccomp/default.json in github.com/moby/moby. */
const STEP_RIGHTS: readonly StepRight[] = [
  { right: 'open AF_PACKET and AF_XDP sockets, which send frames past the rules for packets' },
  { right: 'open AF_VSOCK sockets, which reach the hypervisor of the host', deniedSince: '24.0.0' },
  { right: 'use io_uring', deniedSince: '25.0.0' },
  { right: 'open AF_ALG sockets (CVE-2026-31431)', deniedSince: '29.5.0' },
]

const OWN_PROFILES: readonly string[] = ['default', 'builtin']

/**
 * What a RUN step of a Dockerfile may do on an engine that sandboxes may not: the builder takes no profile, so the engine's default one
 * applies. Empty when that is ours.
 */
export function stepRights({ isSupported, defaultProfile }: SeccompFacts, engineVersion: string): string[] {
  if (!isSupported || defaultProfile === 'unconfined') return ['make every system call']
  if (basename(defaultProfile) === SECCOMP_FILE) return []
  if (!OWN_PROFILES.includes(defaultProfile)) return [`make the system calls that ${defaultProfile} allows`]
  const version = parseVersion(engineVersion)
  const isDenied = ({ deniedSince }: StepRight): boolean => {
    const since = deniedSince === undefined ? undefined : parseVersion(deniedSince)
    return since !== undefined && version !== undefined && compareVersions(version, since) >= 0
  }
  return STEP_RIGHTS.filter((right) => !isDenied(right)).map(({ right }) => right)
}
