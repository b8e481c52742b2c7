import type { ContextFile } from '../../packages/runtime-docker/src/images/build-context.ts'
import type { HostAuthorities } from './host-authorities.ts'

const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'

/** The folder in a build's context that becomes `/`. */
const FOLDER = 'host-authorities'

/**
 * The host's authorities for an image: the bundle for programs, and each extra certificate for `update-ca-certificates`, so that they stay
 * when a Dockerfile installs `ca-certificates`.
 */
export function authorityFiles({ bundle, extra }: HostAuthorities): ContextFile[] {
  const certificates = extra.map((pem, index) => ({
    name: `${FOLDER}/usr/local/share/ca-certificates/host-${index + 1}.crt`,
    bytes: Buffer.from(`${pem}\n`),
  }))
  return [...certificates, { name: `${FOLDER}${BUNDLE}`, bytes: Buffer.from(bundle) }]
}

/** The instructions that put `authorityFiles` into an image. */
export const AUTHORITY_INSTRUCTIONS = `COPY ${FOLDER}/ /\nENV SSL_CERT_FILE=${BUNDLE} NODE_EXTRA_CA_CERTS=${BUNDLE}\n`
