/**
 * A root file system of Debian's packages, like that of the official slim image: the minimal set, no documentation, and
 * an apt that stores neither archives nor translations. It needs root, for device nodes and chroot. `mmdebstrap` takes a
 * third of the time of `debootstrap`, because apt loads all packages at once.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import { runStep } from '../host/run-step.ts'
import type { ImageProgress } from './image-progress.ts'

export interface DebianRootfsOptions {
  readonly suite: string
  readonly mirror: string
  readonly folder: string
  readonly progress: ImageProgress
  readonly outbound: Outbound
}

const TIMEOUT_MS = 900_000
/** The slim image omits all files under these folders except copyright texts. dpkg applies the rule to later packages too. */
const DOCUMENTATION = ['doc', 'man', 'locale', 'info', 'groff', 'lintian', 'linda']
const DPKG_OPTIONS = [
  // dpkg does not sync to the disk: after a failure the whole result is removed.
  'force-unsafe-io',
  ...DOCUMENTATION.map((name) => `path-exclude=/usr/share/${name}/*`),
  'path-include=/usr/share/doc/*/copyright',
]

/** The directories of `/` are links from the start; the package that would convert them later would bring perl. */
const MERGED_USR = ['--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr', '--include=usr-is-merged']

const FILES: Readonly<Record<string, string>> = {
  'etc/apt/apt.conf.d/docker-clean': 'APT::Keep-Downloaded-Packages "false";\nDir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\n',
  'etc/apt/apt.conf.d/docker-no-languages': 'Acquire::Languages "none";\n',
  'etc/apt/apt.conf.d/docker-gzip-indexes': 'Acquire::GzipIndexes "true";\n',
  'usr/sbin/policy-rc.d': '#!/bin/sh\nexit 101\n',
}

/** @throws AppError `failed_precondition` with the tool's last line */
export async function makeDebianRootfs({ suite, mirror, folder, progress, outbound }: DebianRootfsOptions): Promise<void> {
  const options = ['--mode=root', '--variant=minbase', ...MERGED_USR, ...DPKG_OPTIONS.map((option) => `--dpkgopt=${option}`)]
  const { ok, tail } = await runStep('mmdebstrap', [...options, suite, folder, ...sourcesOf(suite, mirror)], {
    timeoutMs: TIMEOUT_MS,
    onLine: (line) => progress.detail(line),
    env: proxyVariables(outbound),
  })
  if (!ok) {
    const reason = /^E: (.*)$/m.exec(tail)?.[1] ?? tail.split('\n').at(-1) ?? ''
    throw new AppError(
      'failed_precondition',
      `Debian's packages could not be downloaded from ${mirror} (${reason}): check the connection and run this again.`,
    )
  }
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text, { mode: name.startsWith('usr/sbin/') ? 0o755 : 0o644 })
  }
  const waste = ['var/cache/apt', 'var/lib/apt/lists', 'var/cache/debconf/templates.dat-old']
  // The essential packages are unpacked without dpkg, so without its rules.
  const documents = DOCUMENTATION.filter((name) => name !== 'doc').map((name) => `usr/share/${name}`)
  for (const name of [...waste, ...documents]) await rm(join(folder, name), { recursive: true, force: true })
  await mkdir(join(folder, 'var/cache/apt/archives/partial'), { recursive: true })
  await mkdir(join(folder, 'var/lib/apt/lists/partial'), { recursive: true })
}

/** Lines of apt's source list. The security updates are on the same mirrors under another name. */
function sourcesOf(suite: string, mirror: string): string[] {
  const lines = [`deb ${mirror} ${suite} main`, `deb ${mirror} ${suite}-updates main`]
  return mirror.endsWith('/debian') ? [...lines, `deb ${mirror}-security ${suite}-security main`] : lines
}
