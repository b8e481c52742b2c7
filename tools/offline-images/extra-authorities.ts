import { X509Certificate } from 'node:crypto'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g

/** The certificates of a PEM bundle, as PEM. */
export function splitBundle(bundle: string): string[] {
  return bundle.match(CERTIFICATE) ?? []
}

/** The certificates of `trusted` that are not in `known`, each once. Certificates that cannot be read are left out. */
export function extraAuthorities(trusted: readonly string[], known: readonly string[]): string[] {
  const seen = new Set(known.map(fingerprint))
  return trusted.filter((pem) => {
    const print = fingerprint(pem)
    if (print === undefined || seen.has(print)) return false
    seen.add(print)
    return true
  })
}

function fingerprint(pem: string): string | undefined {
  try {
    return new X509Certificate(pem).fingerprint256
  } catch {
    return undefined
  }
}
