import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  AuthorityKeyIdentifier,
  BasicConstraints,
  ExtendedKeyUsage,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  SubjectAlternativeName,
} from '@peculiar/asn1-x509'
import { Secret } from '@sandyard/kit/config/secret'
import { keyIdentifier, signCertificate } from './certificate.ts'
import type { SandboxAuthority } from './sandbox-authority.ts'

/** The certificate of a server with one name. Clients need no more than it: its issuer is in their trust store. */
export interface Leaf {
  readonly certificatePem: string
  /** PKCS #8 in PEM. */
  readonly privateKeyPem: Secret
  readonly expiresAt: Date
}

const DAY_MS = 86_400_000
/** Clocks of clients may be behind. */
const BEGINS_BEFORE_MS = DAY_MS
const LASTS_MS = 30 * DAY_MS
const MAX_NAME_LENGTH = 253
const NAME = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

/**
 * A new key with a certificate for a name, for 30 days. Costs some milliseconds: keep it.
 *
 * @throws TypeError when `name` is no DNS name, or has a wildcard
 */
export function leafFor({ name: issuer, publicKey: issuerKey, secretKey }: SandboxAuthority, name: string): Leaf {
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no DNS name`)
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'der' })
  const now = Date.now()
  const expiresAt = new Date(now + LASTS_MS)
  const names = new SubjectAlternativeName([new GeneralName({ dNSName: name.toLowerCase() })])
  const certificatePem = signCertificate(
    {
      serial: randomBytes(16),
      issuer,
      // The name is an alternative name, since a common name has at most 64 characters.
      subject: 'Sandyard egress',
      notBefore: new Date(now - BEGINS_BEFORE_MS),
      notAfter: expiresAt,
      publicKey,
      extensions: [
        { id: id_ce_basicConstraints, isCritical: true, value: new BasicConstraints({ cA: false }) },
        { id: id_ce_keyUsage, isCritical: true, value: new KeyUsage(KeyUsageFlags.digitalSignature) },
        { id: id_ce_extKeyUsage, isCritical: false, value: new ExtendedKeyUsage([id_kp_serverAuth]) },
        { id: id_ce_subjectAltName, isCritical: false, value: names },
        { id: id_ce_subjectKeyIdentifier, isCritical: false, value: keyIdentifier(publicKey) },
        {
          id: id_ce_authorityKeyIdentifier,
          isCritical: false,
          value: new AuthorityKeyIdentifier({ keyIdentifier: keyIdentifier(issuerKey) }),
        },
      ],
    },
    Buffer.from(secretKey.reveal(), 'hex'),
  )
  return { certificatePem, privateKeyPem: new Secret(keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()), expiresAt }
}
