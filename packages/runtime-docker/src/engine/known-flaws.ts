import { compareVersions, parseVersion, type VersionNumber } from './version-number.ts'

export type EngineComponent = 'engine' | 'runc'

/** A flaw by which a container or an image reaches the host. */
export interface Flaw {
  readonly cve: string
  readonly component: EngineComponent
  /** The first version without the flaw in each line of releases; lines that are newer than all of them do not have it. */
  readonly fixedIn: readonly string[]
  /** The first packages of distributions that have the repair in an older version. */
  readonly repairedIn?: readonly string[]
  readonly effect: string
}

export interface ComponentVersion {
  readonly version: string
  /** The version of the package, where the engine says it. */
  readonly packageVersion?: string | undefined
}

/**
 * The source of each row: the security advisories of github.com/opencontainers/runc and github.com/moby/moby, and
 * nvd.nist.gov/vuln/detail/<CVE>; of the packages: their changelogs. The engine itself must be 20.10 or newer (`connectEngine`).
 */
const FLAWS: readonly Flaw[] = [
  { cve: 'CVE-2019-5736', component: 'runc', fixedIn: ['1.0.0-rc7'], effect: 'an image overwrites runc on the host' },
  { cve: 'CVE-2021-30465', component: 'runc', fixedIn: ['1.0.0-rc95'], effect: 'symlinks exchanged during a mount open files of the host' },
  { cve: 'CVE-2022-29162', component: 'runc', fixedIn: ['1.1.2'], effect: 'processes inherit capabilities' },
  {
    cve: 'CVE-2023-27561',
    component: 'runc',
    fixedIn: ['1.1.5'],
    effect: 'an image with a symlink at /proc removes the protection of procfs',
  },
  { cve: 'CVE-2023-28642', component: 'runc', fixedIn: ['1.1.5'], effect: 'an image with a symlink at /proc escapes AppArmor' },
  {
    cve: 'CVE-2024-21626',
    component: 'runc',
    fixedIn: ['1.1.12'],
    repairedIn: ['1.1.5+ds1-1+deb12u1'],
    effect: 'a working directory below /proc/self/fd is a directory of the host',
  },
  {
    cve: 'CVE-2024-45310',
    component: 'runc',
    fixedIn: ['1.1.14', '1.2.0-rc.3'],
    effect: 'containers with a shared volume create files on the host',
  },
  {
    cve: 'CVE-2025-31133',
    component: 'runc',
    fixedIn: ['1.2.8', '1.3.3', '1.4.0-rc.3'],
    effect: 'a race with a masked path makes files of procfs writable',
  },
  {
    cve: 'CVE-2025-52565',
    component: 'runc',
    fixedIn: ['1.2.8', '1.3.3', '1.4.0-rc.3'],
    effect: 'a race with /dev/console makes files of procfs writable',
  },
  {
    cve: 'CVE-2025-52881',
    component: 'runc',
    fixedIn: ['1.2.8', '1.3.3', '1.4.0-rc.3'],
    effect: 'writes of runc are redirected to other files of procfs',
  },
  { cve: 'CVE-2021-41091', component: 'engine', fixedIn: ['20.10.9'], effect: 'users of the host can run programs of containers' },
  { cve: 'CVE-2022-24769', component: 'engine', fixedIn: ['20.10.14'], effect: 'processes inherit capabilities' },
  { cve: 'CVE-2022-36109', component: 'engine', fixedIn: ['20.10.18'], effect: 'USER of an image keeps the groups of root' },
  {
    cve: 'CVE-2024-24557',
    component: 'engine',
    fixedIn: ['24.0.9', '25.0.2'],
    effect: 'an image poisons the cache of the classic builder',
  },
]

/** The flaws of a version; none for a version of a form that is not known. */
export function flawsOf(component: EngineComponent, { version, packageVersion = '' }: ComponentVersion): Flaw[] {
  const found = parseVersion(version)
  if (found === undefined) return []
  return FLAWS.filter((flaw) => flaw.component === component && !isFixed(flaw, found) && !isRepaired(flaw, packageVersion))
}

function isFixed({ fixedIn }: Flaw, version: VersionNumber): boolean {
  const [major, minor] = version
  const lines = fixedIn.map(parseVersion).filter((fix) => fix !== undefined)
  const ownLine = lines.find((fix) => fix[0] === major && fix[1] === minor)
  if (ownLine !== undefined) return compareVersions(version, ownLine) >= 0
  return lines.every((fix) => compareVersions(version, fix) > 0)
}

/** Debian counts the repairs of a version in a release: `+deb12u1`. */
function isRepaired({ repairedIn = [] }: Flaw, packageVersion: string): boolean {
  const split = (text: string): readonly [string, number] => {
    const [, base = text, count = '0'] = /^(.*\+deb\d+u)(\d+)/.exec(text) ?? []
    return [base, Number(count)]
  }
  const [base, count] = split(packageVersion)
  return repairedIn.map(split).some(([of, from]) => of === base && count >= from)
}
