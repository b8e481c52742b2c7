import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { parseConfig, type ConfigError } from '../config/parse-config.ts'
import { DIRECT, OUTBOUND_SETTINGS, outboundOf } from './outbound.ts'
import { withoutCredentials } from './http-proxy.ts'
import { proxyVariables, withDefaults } from './proxy-variables.ts'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-outbound-'))
const fileOf = (text: string): string => {
  const file = join(folder, `${Math.random()}.pem`)
  writeFileSync(file, text)
  return file
}
const [ONE = '', TWO = ''] = rootCertificates.map((text) => new X509Certificate(text).toString())
const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const parse = (environment: Record<string, string>) => outboundOf(parseConfig(OUTBOUND_SETTINGS, environment))
const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    parse(environment)
    return []
  } catch (err) {
    return (err as ConfigError).problems
  }
}

describe('SANDYARD_EXTRA_CA', () => {
  it('is empty by default', () => {
    expect(parse({})).toEqual(DIRECT)
  })

  it('reads every certificate of a file once, without comments and with the line ends of Windows', () => {
    const text = `# Subject: one\n${ONE}\nTwo follows\n${TWO.replaceAll('\n', '\r\n')}\r\n${ONE}`
    expect(parse({ SANDYARD_EXTRA_CA: fileOf(text) }).extraCa).toEqual([ONE, TWO])
  })

  it('reads the text itself, as SANDYARD_EXTRA_CA_FILE gives it', () => {
    expect(parse({ SANDYARD_EXTRA_CA_FILE: fileOf(ONE) }).extraCa).toEqual([ONE])
  })

  it.each([
    ['no certificate', 'hello', /^SANDYARD_EXTRA_CA must name a file with certificates in PEM, and \S+ has none$/],
    ['DER', '\u0030\u0082\u0001', /has none$/],
    ['a key', `${ONE}\n${KEY}`, /nothing but certificates, and \S+ has a PRIVATE KEY$/],
    ['damage', ONE.replace('MII', 'MIX'), /certificate 1 of \S+ cannot be read$/],
    ['a cut end', `${ONE}\n${TWO.slice(0, -10)}`, /^SANDYARD_EXTRA_CA has a certificate without an end/],
    ['too much', 'x'.repeat(1024 * 1024 + 1), /more than 1 MiB/],
  ])('refuses a file with %s in one sentence', (_, text, problem) => {
    expect(problemsOf({ SANDYARD_EXTRA_CA: fileOf(text) })).toEqual([expect.stringMatching(problem)])
  })

  it('refuses a file that cannot be read', () => {
    expect(problemsOf({ SANDYARD_EXTRA_CA: '/nowhere.pem' })).toEqual(['SANDYARD_EXTRA_CA names a file that cannot be read: /nowhere.pem'])
    expect(problemsOf({ SANDYARD_EXTRA_CA: folder })).toHaveLength(1)
  })
})

describe('SANDYARD_HTTP_PROXY', () => {
  it.each([
    ['http://proxy.example.com:3128', 'http://proxy.example.com:3128', 3128],
    ['http://proxy.example.com', 'http://proxy.example.com:80', 80],
    ['https://Proxy.example.com/', 'https://proxy.example.com:443', 443],
    [' http://me:pass%40word@10.0.0.5:8080/ ', 'http://me:pass%40word@10.0.0.5:8080', 8080],
    ['http://me@10.0.0.5', 'http://me@10.0.0.5:80', 80],
  ])('reads %s', (text, url, port) => {
    const { httpProxy } = parse({ SANDYARD_HTTP_PROXY: text })
    expect([httpProxy?.url.reveal(), httpProxy?.port]).toEqual([url, port])
  })

  it.each([
    'proxy.hush:3128',
    'socks5://me:hush@10.0.0.5:1080',
    'http://me:hush@proxy/path',
    'http://me:hush@proxy?a',
    'http://me:hush@[fd00::1]:3128',
    'http://me:hush@localhost:3128',
    'http://me:hush@127.0.0.2:3128',
    'http://me:hush@0.0.0.0:3128',
    'http://',
  ])('refuses %s in one sentence that does not quote it', (text) => {
    const problems = problemsOf({ SANDYARD_HTTP_PROXY: text })
    expect(problems).toEqual([expect.stringMatching(/^SANDYARD_HTTP_PROXY must be /)])
    expect(problems.join()).not.toContain('hush')
  })

  it.each([
    ['http://me:hush@10.0.0.5:3128', 'http://10.0.0.5:3128'],
    ['https://me@proxy.example.com', 'https://proxy.example.com'],
  ])('has a form without credentials: %s', (text, expected) => {
    const { httpProxy } = parse({ SANDYARD_HTTP_PROXY: text })
    expect(httpProxy && withoutCredentials(httpProxy)).toBe(expected)
  })

  it('is not in texts of the settings', () => {
    const outbound = parse({ SANDYARD_HTTP_PROXY: 'http://me:hush@10.0.0.5:3128' })
    expect(JSON.stringify(outbound)).not.toContain('hush')
  })
})

describe('proxyVariables', () => {
  it('has both spellings, and loopback addresses without the proxy', () => {
    const url = 'http://me:hush@10.0.0.5:3128'
    const without = 'localhost,127.0.0.1,::1,.example.com,10.0.0.0/8'
    const outbound = parse({ SANDYARD_HTTP_PROXY: url, SANDYARD_NO_PROXY: '.example.com, localhost,10.0.0.0/8' })
    expect(proxyVariables(outbound)).toEqual({
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      NO_PROXY: without,
      http_proxy: url,
      https_proxy: url,
      no_proxy: without,
    })
    expect(proxyVariables(parse({ SANDYARD_NO_PROXY: 'a' }))).toEqual({})
  })

  it('gives way to own variables in either spelling', () => {
    const defaults = { HTTP_PROXY: 'd', http_proxy: 'd', HTTPS_PROXY: 'd', https_proxy: 'd' }
    expect(withDefaults({ https_proxy: '', A: '1' }, defaults)).toEqual({ HTTP_PROXY: 'd', http_proxy: 'd', https_proxy: '', A: '1' })
  })
})
