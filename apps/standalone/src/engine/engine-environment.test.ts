import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { DIRECT } from '@sandyard/kit/outbound/outbound'
import { engineEnvironment } from './engine-environment.ts'

it('adds the proxy and the authorities, and keeps the rest', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'sandyard-engine-')), 'authorities')
  const httpProxy = { url: new Secret('http://10.0.0.5:3128'), host: '10.0.0.5', port: 3128 }
  const outbound = { extraCa: ['ONE\n', 'TWO\n'], httpProxy, noProxy: ['.corp.example'] }
  expect(engineEnvironment({ PATH: '/bin' }, outbound, folder)).toMatchObject({
    PATH: '/bin',
    HTTPS_PROXY: 'http://10.0.0.5:3128',
    NO_PROXY: 'localhost,127.0.0.1,::1,.corp.example',
    SSL_CERT_DIR: `/etc/ssl/certs:/etc/pki/tls/certs:${folder}`,
  })
  expect(readFileSync(join(folder, 'extra.pem'), 'utf8')).toBe('ONE\nTWO\n')
  expect(engineEnvironment({ SSL_CERT_DIR: '/own' }, outbound, folder)['SSL_CERT_DIR']).toBe(`/own:${folder}`)
})

it('changes nothing without settings', () => {
  expect(engineEnvironment({ PATH: '/bin' }, DIRECT, '/nowhere/at/all')).toEqual({ PATH: '/bin' })
})
