import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { Secret } from '@sandyard/kit/config/secret'
import { describe, expect, it } from 'vitest'
import { leafFor } from './leaf-for.ts'
import { sandboxAuthority } from './sandbox-authority.ts'

const SEED = new Secret('seed of a test')
const LONG_NAME = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`

describe('sandboxAuthority', () => {
  it('is the same in every process, and another one for every sandbox and every installation', () => {
    const { certificatePem, secretKey } = sandboxAuthority(SEED, 'i1')
    const again = sandboxAuthority(SEED, 'i1')
    expect([again.certificatePem, again.secretKey.reveal()]).toEqual([certificatePem, secretKey.reveal()])
    const others = [sandboxAuthority(SEED, 'i2'), sandboxAuthority(new Secret('another'), 'i1')]
    expect(new Set([secretKey, ...others.map((other) => other.secretKey)].map((key) => key.reveal())).size).toBe(3)
  })

  it('has a certificate of an authority that signs itself', () => {
    const { certificatePem } = sandboxAuthority(SEED, 'i1')
    const certificate = new X509Certificate(certificatePem)
    expect(certificate.ca).toBe(true)
    expect(certificate.subject).toBe('CN=Sandyard egress i1')
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
    expect(certificate.validToDate.getUTCFullYear()).toBe(2049)
    expect(certificatePem).toMatch(/-----END CERTIFICATE-----\n$/)
  })

  it('does not show its key', () => {
    expect(JSON.stringify(sandboxAuthority(SEED, 'i1'))).not.toContain(sandboxAuthority(SEED, 'i1').secretKey.reveal())
  })
})

describe('leafFor', () => {
  it.each(['api.example.com', 'API.Example.com', 'xn--bcher-kva.example', 'single', LONG_NAME])('serves TLS as %s', async (name) => {
    const authority = sandboxAuthority(SEED, 'i1')
    expect(await greet(name, { authority, ca: authority.certificatePem })).toBe('hello')
  })

  it('is refused for another name, and by a sandbox with another authority', async () => {
    const authority = sandboxAuthority(SEED, 'i1')
    const ca = authority.certificatePem
    await expect(greet('api.example.com', { authority, ca, asked: 'www.example.com' })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    const other = sandboxAuthority(SEED, 'i2').certificatePem
    await expect(greet('api.example.com', { authority, ca: other })).rejects.toMatchObject({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
  })

  it('lasts for thirty days and began before now', () => {
    const { certificatePem, expiresAt } = leafFor(sandboxAuthority(SEED, 'i1'), 'a.example')
    const { validFromDate, validToDate, ca, issuer } = new X509Certificate(certificatePem)
    expect(validFromDate.getTime()).toBeLessThan(Date.now() - 3_600_000)
    expect(validToDate.getTime()).toBe(Math.floor(expiresAt.getTime() / 1000) * 1000)
    expect([ca, issuer]).toEqual([false, 'CN=Sandyard egress i1'])
  })

  it.each(['', '*.example.com', 'a..b', 'a b', 'a\0.example', '-a.example', `${'a'.repeat(64)}.example`])('is refused for %j', (name) => {
    expect(() => leafFor(sandboxAuthority(SEED, 'i1'), name)).toThrow(TypeError)
  })
})

interface Greeting {
  readonly authority: ReturnType<typeof sandboxAuthority>
  readonly ca: string
  readonly asked?: string
}

/** What a TLS client that trusts `ca` reads from a server with the leaf for `name`. */
async function greet(name: string, { authority, ca, asked = name }: Greeting): Promise<string> {
  const { certificatePem, privateKeyPem } = leafFor(authority, name)
  const server = createServer({ cert: certificatePem, key: privateKeyPem.reveal() }, (socket) => socket.end('hello'))
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', servername: asked, ca })
    const chunks: string[] = []
    for await (const chunk of socket.setEncoding('utf8')) chunks.push(chunk as string)
    return chunks.join('')
  } finally {
    server.close()
  }
}
