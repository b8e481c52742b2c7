import { createECDH, createPublicKey, hkdfSync } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import {
  BasicConstraints,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
} from '@peculiar/asn1-x509'
import { Secret } from '@sandyard/kit/config/secret'
import { keyIdentifier, signCertificate } from './certificate.ts'

/** The certificate authority of one sandbox, for the domains of its header rules (control-plane.md 18.5). */
export interface SandboxAuthority {
  /** For the trust store of the sandbox. Ends with a newline. */
  readonly certificatePem: string
  /** The common name of its certificate. */
  readonly name: string
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
  /** 32 bytes in hex. */
  readonly secretKey: Secret
}

/** Fixed, so that the certificate is always the same. */
const NOT_BEFORE = new Date('2020-01-01T00:00:00Z')
const NOT_AFTER = new Date('2049-12-31T23:59:59Z')

/**
 * Derives the authority of a sandbox from the seed of the installation: every process makes the same key and the same certificate, and none
 * stores them. It can sign for every name, but only its sandbox trusts it.
 */
export function sandboxAuthority(tokenSeed: Secret, sandboxId: string): SandboxAuthority {
  // 48 bytes, so that the reduction modulo the order of the curve has no bias (FIPS 186-5 A.2.1).
  const secretKey = p256.utils.randomSecretKey(derive(tokenSeed, `egress-authority-key:${sandboxId}`, 48))
  const publicKey = toPublicKey(secretKey)
  const name = `Sandyard egress ${sandboxId}`
  const certificatePem = signCertificate(
    {
      serial: derive(tokenSeed, `egress-authority-serial:${sandboxId}`, 16),
      issuer: name,
      subject: name,
      notBefore: NOT_BEFORE,
      notAfter: NOT_AFTER,
      publicKey,
      extensions: [
        { id: id_ce_basicConstraints, isCritical: true, value: new BasicConstraints({ cA: true, pathLenConstraint: 0 }) },
        { id: id_ce_keyUsage, isCritical: true, value: new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign) },
        { id: id_ce_subjectKeyIdentifier, isCritical: false, value: keyIdentifier(publicKey) },
      ],
    },
    secretKey,
  )
  return { certificatePem, name, publicKey, secretKey: new Secret(Buffer.from(secretKey).toString('hex')) }
}

function derive(tokenSeed: Secret, purpose: string, length: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', tokenSeed.reveal(), '', purpose, length))
}

function toPublicKey(secretKey: Uint8Array): Uint8Array {
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(secretKey)
  const point = curve.getPublicKey()
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') }
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' })
}
