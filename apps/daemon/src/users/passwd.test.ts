import { describe, expect, it } from 'vitest'
import { parseGroup, parsePasswd } from './passwd.ts'

describe('parsePasswd', () => {
  it('reads accounts and skips all other lines', () => {
    const text = [
      '# a comment',
      'root:x:0:0:root:/root:/bin/bash',
      '  user:x:1000:1001:Some One,,,:/home/user:/bin/sh  ',
      'noshell:x:5:60:x:/var/games',
      '+nis:x:1:1::/:',
      '-nis:x:1:1::/:',
      ':x:1:1::/:',
      'text-id:x:one:1::/:',
      'short:x:1:1',
      'huge:x:99999999999:1::/:',
      '',
    ].join('\n')
    expect(parsePasswd(text)).toEqual([
      { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/bash' },
      { name: 'user', uid: 1000, gid: 1001, home: '/home/user', shell: '/bin/sh' },
      { name: 'noshell', uid: 5, gid: 60, home: '/var/games', shell: '' },
    ])
  })
})

describe('parseGroup', () => {
  it('reads groups with their members', () => {
    expect(parseGroup('root:x:0:\nsudo:x:27:user,other\nbroken:x:28\n+:::\n')).toEqual([
      { name: 'root', gid: 0, members: [] },
      { name: 'sudo', gid: 27, members: ['user', 'other'] },
    ])
  })
})
