import { expect, it } from 'vitest'
import { lastName, namesBelow, readPlace } from './sandbox-path.ts'

const id = `i${'a1'.repeat(10)}`

it.each([
  [`${id}:/tmp/x`, { sandboxID: id, path: '/tmp/x' }],
  [`${id}:notes:1`, { sandboxID: id, path: 'notes:1' }],
  [`${id}:`, { sandboxID: id, path: '.' }],
  ['notes:1', { path: 'notes:1' }],
  ['./i:x', { path: './i:x' }],
])('reads %s', (text, place) => {
  expect(readPlace(text)).toEqual(place)
})

it('takes the names below a directory', () => {
  expect(namesBelow('/home/user', '/home/user/a/b')).toEqual(['a', 'b'])
  expect(namesBelow('/', '/etc')).toEqual(['etc'])
})

it.each(['/etc/passwd', '/home/user', '/home/user/../../etc', '/home/user//x', '/home/user/./x', '/home/userx', '/home/user/a\0b'])(
  'refuses %s',
  (path) => {
    expect(() => namesBelow('/home/user', path)).toThrow('outside of /home/user')
  },
)

it('takes the last name of a path, and none that leads elsewhere', () => {
  expect([lastName('/home/user/a.txt', 'x'), lastName('/home/', 'x'), lastName('/', 'x')]).toEqual(['a.txt', 'home', 'x'])
  for (const path of ['/home/..', '/home/.', '/a/b\0']) expect(() => lastName(path, 'x'), path).toThrow('no usable name')
})
