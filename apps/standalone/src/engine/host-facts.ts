import { existsSync, readFileSync } from 'node:fs'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'

/** Facts of this machine that the set-up of an engine depends on. */
export interface HostFacts {
  readonly platform: NodeJS.Platform
  readonly isRoot: boolean
  /** `debian` also for distributions that use Debian's packages (Ubuntu, and those with Debian in `ID_LIKE`). */
  readonly family: 'debian' | 'other'
  readonly hasDockerd: boolean
  readonly hasSystemd: boolean
}

/** Reads the `ID` and `ID_LIKE` fields of an os-release text. */
export function distributionFamily(osRelease: string): HostFacts['family'] {
  const names = [...osRelease.matchAll(/^(?:ID|ID_LIKE)=["']?([^"'\n]*)["']?$/gm)].flatMap((match) => (match[1] ?? '').split(' '))
  return names.includes('debian') || names.includes('ubuntu') ? 'debian' : 'other'
}

export function readHostFacts(): HostFacts {
  let osRelease = ''
  try {
    osRelease = readFileSync('/etc/os-release', 'utf8')
  } catch {
    // A system without the file belongs to no known family.
  }
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    family: distributionFamily(osRelease),
    hasDockerd: findProgram('dockerd') !== undefined,
    hasSystemd: existsSync('/run/systemd/system'),
  }
}
