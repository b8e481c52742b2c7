/**
 * A root file system of Debian's packages, like the one in the official slim image: the minimal set, no documentation, and
 * an apt that keeps neither archives nor lists of languages. It needs root, for device nodes and chroot.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { runStep } from '../host/run-step.ts'
import type { ImageProgress } from './image-progress.ts'

export interface DebianRootfsOptions {
  readonly suite: string
  readonly mirror: string
  readonly folder: string
  readonly progress: ImageProgress
}

const DEBOOTSTRAP_TIMEOUT_MS = 900_000
/** Everything under these is left out by the slim image, copyright texts excepted. */
const DOCUMENTATION = ['doc', 'man', 'locale', 'info', 'groff', 'lintian', 'linda']

const FILES: Readonly<Record<string, string>> = {
  'etc/dpkg/dpkg.cfg.d/docker': [
    ...DOCUMENTATION.map((name) => `path-exclude /usr/share/${name}/*`),
    'path-include /usr/share/doc/*/copyright',
    '',
  ].join('\n'),
  'etc/apt/apt.conf.d/docker-clean': 'APT::Keep-Downloaded-Packages "false";\nDir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\n',
  'etc/apt/apt.conf.d/docker-no-languages': 'Acquire::Languages "none";\n',
  'etc/apt/apt.conf.d/docker-gzip-indexes': 'Acquire::GzipIndexes "true";\n',
  'usr/sbin/policy-rc.d': '#!/bin/sh\nexit 101\n',
}

/** @throws AppError `failed_precondition` with the tool's last line */
export async function makeDebianRootfs({ suite, mirror, folder, progress }: DebianRootfsOptions): Promise<void> {
  const { ok, tail } = await runStep('debootstrap', ['--variant=minbase', '--merged-usr', suite, folder, mirror], {
    timeoutMs: DEBOOTSTRAP_TIMEOUT_MS,
    onLine: (line) => progress.detail(line),
  })
  if (!ok) {
    const reason = /^E: (.*)$/m.exec(tail)?.[1] ?? tail.split('\n').at(-1) ?? ''
    throw new AppError(
      'failed_precondition',
      `Debian's packages could not be had from ${mirror} (${reason}): check the connection and run this again.`,
    )
  }
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text, { mode: name.startsWith('usr/sbin/') ? 0o755 : 0o644 })
  }
  await writeFile(join(folder, 'etc/apt/sources.list'), sourcesOf(suite, mirror))
  const waste = ['var/cache/apt', 'var/lib/apt/lists', 'var/log/bootstrap.log', 'var/cache/debconf/templates.dat-old', 'debootstrap']
  const documents = DOCUMENTATION.filter((name) => name !== 'doc').map((name) => `usr/share/${name}`)
  for (const name of [...waste, ...documents]) await rm(join(folder, name), { recursive: true, force: true })
  await mkdir(join(folder, 'var/cache/apt/archives/partial'), { recursive: true })
  await mkdir(join(folder, 'var/lib/apt/lists/partial'), { recursive: true })
}

/** With the security updates, which live on the same mirrors under a name of their own. */
function sourcesOf(suite: string, mirror: string): string {
  const lines = [`deb ${mirror} ${suite} main`, `deb ${mirror} ${suite}-updates main`]
  if (mirror.endsWith('/debian')) lines.push(`deb ${mirror}-security ${suite}-security main`)
  return `${lines.join('\n')}\n`
}
