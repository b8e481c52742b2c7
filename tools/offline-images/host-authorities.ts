import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { extraAuthorities, splitBundle } from './extra-authorities.ts'

/** The authorities that this host trusts, when some of them are its own, as behind a proxy that ends TLS. */
export interface HostAuthorities {
  /** The host's whole bundle. */
  readonly bundle: string
  /** Its certificates that neither Debian nor Node brings. */
  readonly extra: readonly string[]
}

const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
/** The certificates of Debian's package `ca-certificates`. */
const DEBIAN_FOLDER = '/usr/share/ca-certificates'

/** Undefined for a host without authorities of its own, or without the bundle of Debian's systems. */
export async function readHostAuthorities(): Promise<HostAuthorities | undefined> {
  const bundle = await readFile(BUNDLE, 'utf8').catch(() => '')
  const extra = extraAuthorities(splitBundle(bundle), [...rootCertificates, ...(await readDebianCertificates())])
  return extra.length === 0 ? undefined : { bundle, extra }
}

async function readDebianCertificates(): Promise<string[]> {
  const entries = await readdir(DEBIAN_FOLDER, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.crt'))
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')))
}
