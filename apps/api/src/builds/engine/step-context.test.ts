import { describe, expect, it } from 'vitest'
import { contextOfImage, defaultUserOf, MAX_ENV_BYTES, variablesOf, withEnv, withUser, withWorkdir } from './step-context.ts'

const FULL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

describe('contextOfImage', () => {
  it.each([
    ['v1', { user: 'user', workdir: '/home/user', env: { A: '1' } }],
    ['v2.0.0', { user: 'root', env: { A: '1' } }],
    ['v2.1.0', { user: 'user', env: { A: '1' } }],
  ] as const)('%s', (version, expected) => {
    expect(contextOfImage({ A: '1' }, version)).toEqual(expected)
  })
})

describe('defaultUserOf', () => {
  const image = { kind: 'image', reference: 'x' } as const
  const template = { kind: 'template', reference: 'x', buildId: 'y' } as const
  const step = { type: 'user', args: ['root'], force: false }
  it.each([
    ['v2.1.0', image, [], 'root'],
    ['v2.0.0', image, [], 'user'],
    ['v2.0.0', image, [step], 'root'],
    ['v2.0.0', template, [], 'root'],
  ] as const)('%s from %j with %j', (version, source, steps, expected) => {
    expect(defaultUserOf({ source, steps }, version, { user: 'root', env: {} })).toBe(expected)
  })
})

describe('withEnv', () => {
  const context = { user: 'user', env: { A: '1', B: '2' } }

  it('uses the later value', () => {
    const pairs = [
      ['B', '3'],
      ['C', '4'],
      ['C', '5'],
    ] as const
    expect(withEnv(context, pairs).env).toEqual({ A: '1', B: '3', C: '5' })
  })

  it('refuses an environment that is too large, also of an image', () => {
    const half = 'x'.repeat(MAX_ENV_BYTES / 2)
    expect(Object.keys(withEnv(context, [['C', half]]).env)).toEqual(['A', 'B', 'C'])
    const pairs = [
      ['C', half],
      ['D', half],
    ] as const
    expect(() => withEnv(context, pairs)).toThrow('the environment of the template has more than 256 KiB')
    expect(() => contextOfImage(Object.fromEntries(pairs), 'v2.1.0')).toThrow('more than 256 KiB')
  })

  it.each([
    ['/opt/bin', `/opt/bin:${FULL_PATH}`],
    ['/opt/bin:/usr/bin:', '/opt/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin'],
    [FULL_PATH, FULL_PATH],
    ['', FULL_PATH],
  ])('completes the path %j', (path, expected) => {
    expect(withEnv(context, [['PATH', path]]).env['PATH']).toBe(expected)
  })
})

describe('withWorkdir', () => {
  it.each([
    [undefined, 'app', '/app'],
    ['/srv', 'app/x', '/srv/app/x'],
    ['/srv', '/app/', '/app'],
    ['/srv', '../..', '/'],
    ['/srv', '.', '/srv'],
  ])('from %j to %j', (workdir, path, expected) => {
    expect(withWorkdir({ user: 'user', env: {}, ...(workdir !== undefined && { workdir }) }, path).workdir).toBe(expected)
  })

  it.each(['/proc/self/fd/7', '../proc/self', '/dev/fd/8'])('refuses %s', (path) => {
    expect(() => withWorkdir({ user: 'user', env: {}, workdir: '/app' }, path)).toThrow(
      expect.objectContaining({ kind: 'failed_precondition', message: expect.stringContaining('cannot be in /proc, /sys or /dev') }),
    )
  })
})

describe('variablesOf', () => {
  it('uses the context before the variables of every process', () => {
    const lookup = variablesOf(withUser({ user: 'root', env: { A: '1', USER: 'own' } }, 'web'), '/srv/web')
    expect(['A', 'USER', 'LOGNAME', 'HOME', 'PATH', 'GONE', 'constructor'].map(lookup)).toEqual([
      '1',
      'own',
      'web',
      '/srv/web',
      FULL_PATH,
      undefined,
      undefined,
    ])
  })
})
