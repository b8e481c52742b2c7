import { describe, expect, it } from 'vitest'
import { builderVersionOf } from './builder-version.ts'

describe('builderVersionOf', () => {
  it.each([
    ['e2b-js-sdk/2.51.0', 'v2.1.0'],
    ['e2b-js-sdk/2.51.0 e2b-code-interpreter/2.8.0 source/ci', 'v2.1.0'],
    ['e2b-python-sdk/2.63.0', 'v2.1.0'],
    ['e2b-js-sdk/2.3.0', 'v2.1.0'],
    ['e2b-js-sdk/10.0.0', 'v2.1.0'],
    ['e2b-python-sdk/2.3.0.post1', 'v2.1.0'],
    ['e2b-js-sdk/2.3.1-rc.1', 'v2.1.0'],
    ['e2b-js-sdk/2.2.99', 'v2.0.0'],
    ['e2b-js-sdk/2.2', 'v2.0.0'],
    ['e2b-python-sdk/2.0.0', 'v2.0.0'],
    ['e2b-python-sdk/1.99.0', 'v2.0.0'],
    ['e2b-js-sdk/2.3.0-rc.1', 'v2.0.0'],
    ['e2b-python-sdk/2.3.0rc1', 'v2.0.0'],
    ['e2b-cli/1.0.0', 'v2.1.0'],
    ['curl/8.0', 'v2.1.0'],
    ['Mozilla e2b-js-sdk/1.0.0', 'v2.1.0'],
    ['', 'v2.1.0'],
    [undefined, 'v2.1.0'],
  ])('of %j is %s', (userAgent, version) => expect(builderVersionOf(userAgent)).toBe(version))

  it.each(['e2b-js-sdk/', 'e2b-js-sdk/x', 'e2b-python-sdk/2', 'e2b-js-sdk/2.x.0', `e2b-js-sdk/${'9'.repeat(400)}.0.0`])(
    'refuses %j',
    (userAgent) => expect(() => builderVersionOf(userAgent)).toThrow(/^Error when parsing user agent: invalid version '/),
  )
})
