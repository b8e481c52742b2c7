import { createHash } from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Extension,
  Extensions,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'
import { p256 } from '@noble/curves/nist.js'

const COMMON_NAME = '2.5.4.3'
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'

/** The contents of a certificate with a P-256 key. */
export interface CertificateFields {
  /** Up to 20 bytes; the first bit is cleared, because serial numbers are positive. */
  readonly serial: Uint8Array
  /** Common names, of at most 64 characters. */
  readonly issuer: string
  readonly subject: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
  readonly extensions: readonly CertificateExtension[]
}

export interface CertificateExtension {
  readonly id: string
  readonly isCritical: boolean
  /** An object of `@peculiar/asn1-x509`. */
  readonly value: object
}

/**
 * A certificate in PEM, signed with ECDSA and SHA-256. The signature is deterministic (RFC 6979): equal fields give equal texts.
 *
 * @param secretKey - that of the issuer, 32 bytes
 */
export function signCertificate(fields: CertificateFields, secretKey: Uint8Array): string {
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 })
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: toSerialNumber(fields.serial),
    signature: signatureAlgorithm,
    issuer: toName(fields.issuer),
    validity: new Validity({ notBefore: fields.notBefore, notAfter: fields.notAfter }),
    subject: toName(fields.subject),
    subjectPublicKeyInfo: AsnConvert.parse(fields.publicKey, SubjectPublicKeyInfo),
    extensions: new Extensions(fields.extensions.map(toExtension)),
  })
  const signed = new Uint8Array(AsnConvert.serialize(tbsCertificate))
  const signatureValue = p256.sign(signed, secretKey, { format: 'der', lowS: false })
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm, signatureValue: toBuffer(signatureValue) })
  return toPem(new Uint8Array(AsnConvert.serialize(certificate)))
}

/** The identifier of a key in certificates: SHA-1 of its point (RFC 5280 4.2.1.2). It is no protection. */
export function keyIdentifier(publicKey: Uint8Array): OctetString {
  const { subjectPublicKey } = AsnConvert.parse(publicKey, SubjectPublicKeyInfo)
  return new OctetString(createHash('sha1').update(new Uint8Array(subjectPublicKey)).digest())
}

function toSerialNumber(serial: Uint8Array): ArrayBuffer {
  // The second bit is set, so that no leading zero has to be left out.
  return toBuffer(serial.map((byte, index) => (index === 0 ? (byte & 0x7f) | 0x40 : byte)))
}

function toName(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName })
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])])
}

function toExtension({ id, isCritical, value }: CertificateExtension): Extension {
  return new Extension({ extnID: id, critical: isCritical, extnValue: new OctetString(AsnConvert.serialize(value)) })
}

function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

function toPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
