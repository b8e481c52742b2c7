import { expect, it } from 'vitest'
import { findAccount } from './account.ts'

it('finds an account by its full name only', () => {
  const passwd = 'root:x:0:0:root:/root:/bin/bash\nsandyard-x:x:998:997::/:/bin/false\nsandyard:x:999:996::/nonexistent:/usr/sbin/nologin\n'
  expect(findAccount(passwd, 'sandyard')).toEqual({ uid: 999, gid: 996 })
  expect(findAccount(passwd, 'sandy')).toBeUndefined()
})
