import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { at, type Image } from '../image.ts'
import { findProgram } from './find-program.ts'

/** The packages that clients expect (clients.md 5), by their names in Debian. */
const WANTED = ['sudo', 'curl', 'ca-certificates', 'git', 'less', 'jq', 'socat', 'iproute2', 'iputils-ping', 'procps'] as const
export type Wanted = (typeof WANTED)[number]

export interface PackageManager {
  readonly program: string
  /** Run once before anything is installed. */
  readonly refresh?: readonly string[]
  readonly install: readonly string[]
  /** Package names that differ from Debian's. */
  readonly names: Partial<Readonly<Record<Wanted, string>>>
  /** Removes caches and lists that the installation left. */
  readonly clean?: (image: Image) => void
}

const RED_HAT = { iproute2: 'iproute', 'iputils-ping': 'iputils', procps: 'procps-ng' } as const
const LISTS = '/var/lib/apt/lists'
/** A mirror that does not answer gets one retry. */
const APT_OPTIONS = ['-q', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20', '-o', 'APT::Color=0']

const MANAGERS: readonly PackageManager[] = [
  {
    program: 'apt-get',
    refresh: [...APT_OPTIONS, 'update'],
    install: [...APT_OPTIONS, 'install', '--yes', '--no-install-recommends'],
    names: {},
    clean: (image) => removeContents(at(image, '/var/cache/apt/archives'), (name) => name.endsWith('.deb')),
  },
  { program: 'apk', install: ['add', '--no-cache', '--no-progress'], names: { 'iputils-ping': 'iputils' } },
  { program: 'dnf', install: ['install', '-y', '--setopt=install_weak_deps=False', '--nodocs'], names: RED_HAT },
  { program: 'microdnf', install: ['install', '-y', '--setopt=install_weak_deps=0', '--nodocs'], names: RED_HAT },
  { program: 'yum', install: ['install', '-y'], names: RED_HAT },
  // Arch does not support partial upgrades: new packages may need newer libraries than those of the image.
  { program: 'pacman', install: ['-Syu', '--noconfirm', '--needed'], names: { 'iputils-ping': 'iputils', procps: 'procps-ng' } },
  { program: 'zypper', install: ['--non-interactive', 'install', '--no-recommends'], names: { 'iputils-ping': 'iputils' } },
]

/** The program whose presence shows that a package, or an equivalent, is installed. */
const PROOFS: Readonly<Record<Exclude<Wanted, 'ca-certificates'>, string>> = {
  sudo: 'sudo',
  curl: 'curl',
  git: 'git',
  less: 'less',
  jq: 'jq',
  socat: 'socat',
  iproute2: 'ss',
  'iputils-ping': 'ping',
  procps: 'ps',
}
const CERTIFICATES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/ca-bundle.pem']

export function findPackageManager(image: Image): PackageManager | undefined {
  return MANAGERS.find(({ program }) => findProgram(image, program) !== undefined)
}

export function listMissing(image: Image): Wanted[] {
  return WANTED.filter((wanted) =>
    wanted === 'ca-certificates'
      ? !CERTIFICATES.some((path) => existsSync(at(image, path)))
      : findProgram(image, PROOFS[wanted]) === undefined,
  )
}

/** Whether the image had package lists. Lists that a build has fetched are removed again: they are large and soon outdated. */
export function hasPackageLists(image: Image): boolean {
  const directory = at(image, LISTS)
  return existsSync(directory) && readdirSync(directory).some((name) => name.includes('_Packages') || name.endsWith('Release'))
}

export function removePackageLists(image: Image): void {
  removeContents(at(image, LISTS), () => true)
}

function removeContents(directory: string, isRemoved: (name: string) => boolean): void {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory).filter(isRemoved)) rmSync(join(directory, name), { recursive: true, force: true })
}
