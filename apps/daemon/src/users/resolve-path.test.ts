import { describe, expect, it } from 'vitest'
import { resolvePath } from './resolve-path.ts'

const user = { name: 'user', home: '/home/user' }

describe('resolvePath', () => {
  it.each([
    ['', undefined, '/home/user'],
    ['', '/work', '/work'],
    ['', '/work/', '/work/'],
    ['', 'project', '/home/user/project'],
    ['', '~/project', '/home/user/project'],
    ['a.txt', '/work', '/home/user/a.txt'],
    ['./a//b/../c/', undefined, '/home/user/a/c'],
    ['../../etc', undefined, '/etc'],
    ['~', '/work', '/home/user'],
    ['~/', undefined, '/home/user'],
    ['~/a/../b', undefined, '/home/user/b'],
    ['~\\a', undefined, '/home/user/\\a'],
    ['/', undefined, '/'],
    ['//a/./b/../c/', undefined, '//a/./b/../c/'],
    ['a~b', undefined, '/home/user/a~b'],
  ])('%j with workdir %j is %j (envd.md 18.29, 18.30, 18.31)', (path, defaultWorkdir, expected) => {
    expect(resolvePath(path, { user, defaultWorkdir })).toBe(expected)
  })

  it('refuses the home of another account (envd.md 18.31)', () => {
    expect(() => resolvePath('~root/x', { user, defaultWorkdir: undefined })).toThrow(
      "failed to expand path '~root/x' for user 'user': cannot expand user-specific home dir",
    )
  })

  it('refuses a NUL byte, which no path can have', () => {
    expect(() => resolvePath('/a\0b', { user, defaultWorkdir: undefined })).toThrow('contains a NUL byte')
  })
})
