import { expect, it } from 'vitest'
import { resolveDestination } from './destination.ts'

it.for<[string, string | undefined, string, boolean]>([
  ['/app', '/srv', '/app', false],
  ['/app/', undefined, '/app', true],
  ['app', '/srv', '/srv/app', false],
  ['app', undefined, '/home/user/app', false],
  ['app', '', '/home/user/app', false],
  ['.', '/srv', '/srv', true],
  ['./', undefined, '/home/user', true],
  ['', '/srv', '/srv', true],
  ['..', '/srv/a', '/srv', true],
  ['a/..', '/srv', '/srv', true],
  ['../b..', '/srv/a', '/srv/b..', false],
  ['~/app', undefined, '/home/user/~/app', false],
  ['/../../etc', undefined, '/etc', false],
])('%s in %s is %s', ([destination, workdir, path, isDirectory]) => {
  expect(resolveDestination({ destination, workdir, home: '/home/user' })).toEqual({ path, isDirectory })
})
