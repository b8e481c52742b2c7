import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'

/** Where Go looks for authorities, beside one file with the public ones. */
const PUBLIC_FOLDERS = '/etc/ssl/certs:/etc/pki/tls/certs'

/**
 * The environment of a dockerd that is started here: its pulls go through the proxy and trust the authorities of the installation, which are
 * written into `folder`.
 */
export function engineEnvironment(environment: Environment, outbound: Outbound, folder: string): Environment {
  const withProxy = { ...environment, ...proxyVariables(outbound) }
  if (outbound.extraCa.length === 0) return withProxy
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  writeFileSync(join(folder, 'extra.pem'), outbound.extraCa.join(''))
  return { ...withProxy, SSL_CERT_DIR: `${environment['SSL_CERT_DIR'] ?? PUBLIC_FOLDERS}:${folder}` }
}
