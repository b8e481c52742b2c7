import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, env, parseConfig } from './parse-config.ts'
import { Secret } from './secret.ts'

const schema = {
  port: env.port('T_PORT', { default: 3000, doc: 'port' }),
  url: env.text('T_URL', { doc: 'a URL' }),
  leaseMs: env.duration('T_LEASE', { default: 1000, doc: 'lease' }),
  maxBytes: env.size('T_MAX', { default: 1, doc: 'size' }),
  count: env.count('T_COUNT', { default: 1, doc: 'count' }),
  isOn: env.boolean('T_IS_ON', { default: false, doc: 'switch' }),
  names: env.list('T_NAMES', { default: [], doc: 'names' }),
  token: env.secret('T_TOKEN', { default: undefined, doc: 'token' }),
}

describe('parseConfig', () => {
  it('reads and converts values and applies defaults', () => {
    const config = parseConfig(schema, { T_URL: 'x', T_LEASE: '30s', T_MAX: '2MiB', T_NAMES: 'a, b,' })
    expect(config).toMatchObject({ port: 3000, url: 'x', leaseMs: 30_000, maxBytes: 2 * 1024 * 1024, names: ['a', 'b'] })
    expect(Object.isFrozen(config)).toBe(true)
  })

  it('lists every problem in one error', () => {
    const attempt = () => parseConfig(schema, { T_PORT: '70000', T_LEASE: 'soon' })
    expect(attempt).toThrow(ConfigError)
    expect(attempt).toThrow(/T_PORT[\s\S]*T_URL is required[\s\S]*T_LEASE/)
  })

  it.each([
    [{ T_PORT: '70000' }, 'T_PORT must be a port from 0 to 65535, not "70000"'],
    [{ T_LEASE: '30' }, 'T_LEASE must be a duration such as 30s, 5m or 2h, not "30"'],
    [{ T_MAX: '2GB' }, 'T_MAX must be a size such as 512MiB or 2GiB, not "2GB"'],
    [{ T_COUNT: '0' }, 'T_COUNT must be a whole number above 0, not "0"'],
    [{ T_IS_ON: 'on' }, 'T_IS_ON must be true or false, not "on"'],
  ])('says for %j how the setting is written', (environment, sentence) => {
    expect(() => parseConfig(schema, { T_URL: 'x', ...environment })).toThrow(sentence)
  })

  it('reads NAME_FILE and hides secrets in texts', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'kit-')), 'token')
    writeFileSync(file, 'hush\n')
    const config = parseConfig(schema, { T_URL: 'x', T_TOKEN_FILE: file })
    expect(config.token).toBeInstanceOf(Secret)
    expect(config.token?.reveal()).toBe('hush')
    expect(JSON.stringify(config)).not.toContain('hush')
  })
})
