import { flawsOf, type EngineComponent, type Flaw } from '@sandyard/runtime-docker/engine/known-flaws'
import { compareVersions, parseVersion } from '@sandyard/runtime-docker/engine/version-number'
import { ok, warn, type Check, type Finding } from '../check.ts'
import type { EngineVersion } from '../facts/engine-reader.ts'
import { requireEngineHost, type Facts } from '../facts/facts.ts'

/** CVE-2026-6406: a container reaches the engine's socket past the rules of Docker Desktop. */
const DESKTOP_FIXED = [4, 59, 0, Infinity] as const

/** The packages of Debian and Ubuntu with a component, whose changelogs name the repaired flaws. */
const PACKAGES: Readonly<Record<EngineComponent, readonly string[]>> = { runc: ['runc'], engine: ['docker.io'] }

export const knownHoles: Check = {
  id: 'E3',
  title: 'Known holes',
  checks:
    'component versions of `/version` against known CVEs of runc (fixed in 1.2.8, 1.3.3, 1.4 and before), the engine and Docker Desktop (4.59). ' +
    'Packages of distributions keep the version number of the original, so CVEs that their changelog under `/usr/share/doc` names count as repaired. Warns',
  why: 'Each of these lets a container or an image reach the host.',
  todo: 'Update runc, the engine or Docker Desktop to a version with the repair; gVisor (SANDYARD_SANDBOX_RUNTIME=runsc) keeps sandboxes off the kernel of the host.',
  async run(facts): Promise<Finding> {
    const version = await facts.engine.version()
    const isLocal = await runsHere(facts)
    const components = [
      { component: 'engine' as const, name: 'the engine', version: version.Version, packageVersion: undefined },
      ...(version.Components ?? [])
        .filter(({ Name }) => Name === 'runc')
        .map(({ Version, Details }) => ({
          component: 'runc' as const,
          name: 'runc',
          version: Version,
          packageVersion: Details?.GitCommit,
        })),
    ]
    const open = components.flatMap((part) => {
      const repaired = isLocal ? repairedIn(facts, part.component) : new Set()
      const flaws = flawsOf(part.component, part).filter(({ cve }) => !repaired.has(cve))
      return flaws.length === 0 ? [] : [describe(`${part.name} ${part.packageVersion || part.version}`, flaws)]
    })
    open.push(...desktopHoles(version))
    const all = components.map((part) => `${part.name} ${part.packageVersion || part.version}`).join(', ')
    return open.length === 0 ? ok(`no known hole in ${all}`) : warn(open.join('; '))
  },
}

function describe(name: string, flaws: readonly Flaw[]): string {
  const list = flaws.map(({ cve, effect }) => `${cve} (${effect})`).join(', ')
  return `${name}: ${list}; all are fixed in ${flaws.at(-1)?.fixedIn.join(', ')}`
}

/** The packages of this machine say nothing of an engine elsewhere. */
function runsHere(facts: Facts): Promise<boolean> {
  return requireEngineHost(facts).then(
    () => true,
    () => false,
  )
}

/** The CVE ids of the changelogs of the packages on this machine. */
function repairedIn({ host }: Facts, component: EngineComponent): Set<string> {
  const texts = PACKAGES[component].map((name) => host.findZipped(`usr/share/doc/${name}/changelog.Debian.gz`) ?? '')
  return new Set(texts.join('\n').match(/CVE-\d{4}-\d{4,}/g))
}

function desktopHoles({ Platform }: EngineVersion): string[] {
  const [, number = ''] = /Docker Desktop (\d[\d.]*)/.exec(Platform?.Name ?? '') ?? []
  const version = parseVersion(number)
  if (version === undefined || compareVersions(version, DESKTOP_FIXED) >= 0) return []
  return [`Docker Desktop ${number}: CVE-2026-6406 (a container gets the engine's socket; fixed in 4.59)`]
}
