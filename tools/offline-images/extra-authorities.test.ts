import { rootCertificates } from 'node:tls'
import { expect, it } from 'vitest'
import { authorityFiles } from './authority-files.ts'
import { extraAuthorities, splitBundle } from './extra-authorities.ts'

const [first = '', second = '', third = ''] = rootCertificates
const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'

it('splits a bundle with comments', () => {
  expect(splitBundle(`# one\n${first}\n# two\n${second}\n`)).toEqual([first, second])
  expect(splitBundle('')).toEqual([])
})

it('finds the certificates that are not known, each once, whatever their layout is', () => {
  const otherLayout = first.replaceAll('\n', '\r\n')
  expect(extraAuthorities([otherLayout, second, third, third, broken], [first, broken])).toEqual([second, third])
  expect(extraAuthorities([otherLayout], [first])).toEqual([])
})

it('gives images the bundle, and the extra certificates where update-ca-certificates reads them', () => {
  const files = authorityFiles({ bundle: `${first}\n${second}\n`, extra: [second] })
  expect(files.map(({ name }) => name)).toEqual([
    'host-authorities/usr/local/share/ca-certificates/host-1.crt',
    'host-authorities/etc/ssl/certs/ca-certificates.crt',
  ])
  expect(splitBundle(String(files[0]?.bytes))).toEqual([second])
})
