import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SettingProblem } from '../config/parse-config.ts'

/** Far more than all public authorities together; the bundle is sent to each sandbox. */
const MAX_BYTES = 1024 * 1024
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g
const BEGIN = /-----BEGIN /g

/**
 * Reads a bundle of certificates in PEM: a file, or the text itself (of `NAME_FILE`). Comments between the certificates and repeated certificates
 * are dropped. Each returned text is one certificate and ends with a newline.
 *
 * @throws SettingProblem
 */
export function readCertificates(fileOrText: string): readonly string[] {
  const [name, text] = fileOrText.includes('-----BEGIN ') ? ['it', fileOrText] : [fileOrText, readBundle(fileOrText)]
  if (Buffer.byteLength(text) > MAX_BYTES) throw new SettingProblem(`names certificates of more than 1 MiB: ${name}`)
  const blocks = [...text.matchAll(BLOCK)]
  if (blocks.length === 0) throw new SettingProblem(`must name a file with certificates in PEM, and ${name} has none`)
  if (blocks.length !== text.match(BEGIN)?.length) throw new SettingProblem(`has a certificate without an end: ${name}`)
  const other = blocks.find(([, kind]) => kind !== 'CERTIFICATE')
  if (other !== undefined) throw new SettingProblem(`must name a file with nothing but certificates, and ${name} has a ${other[1]}`)
  return [...new Set(blocks.map(([block], index) => normalised(block, `certificate ${index + 1} of ${name}`)))]
}

function readBundle(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    throw new SettingProblem(`names a file that cannot be read: ${file}`)
  }
}

/** A parser that accepts the text would write it in this form. */
function normalised(block: string, what: string): string {
  try {
    return new X509Certificate(block).toString()
  } catch {
    throw new SettingProblem(`must name a file with certificates in PEM, and ${what} cannot be read`)
  }
}
