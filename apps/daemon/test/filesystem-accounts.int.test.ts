import { rename, rm, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AccountDatabase } from '../src/users/account-database.ts'
import { createScratchDirectory } from './support/scratch-directory.ts'

let scratch: Awaited<ReturnType<typeof createScratchDirectory>>
let files: { passwd: string; group: string }

beforeEach(async () => {
  scratch = await createScratchDirectory()
  files = { passwd: `${scratch.path}/passwd`, group: `${scratch.path}/group` }
  await writeFile(
    files.passwd,
    'root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000::/home/user:/bin/sh\nuser:x:1:1::/:\ntwin:x:1000:7::/twin:\n',
  )
  await writeFile(files.group, 'root:x:0:\nuser:x:1000:\nsudo:x:27:other,user\ndisk:x:6:user\n')
})
afterEach(() => scratch[Symbol.asyncDispose]())

describe('AccountDatabase', () => {
  it('finds accounts by their exact name, with all their groups', async () => {
    const accounts = new AccountDatabase(files)
    const user = { name: 'user', uid: 1000, gid: 1000, home: '/home/user', shell: '/bin/sh' }
    expect(await accounts.lookupUser('user')).toEqual(user)
    expect((await accounts.read()).findUser('user')).toEqual({ ...user, groups: [1000, 27, 6] })
    for (const name of ['', '1000', 'user:user', 'User', 'nobody']) expect(await accounts.lookupUser(name), name).toBeUndefined()
  })

  it('returns the first name of an id, or the id in decimal if there is none (envd.md 18.44)', async () => {
    const owners = await new AccountDatabase(files).read()
    expect([owners.user(1000), owners.user(4242), owners.group(27), owners.group(4242)]).toEqual(['user', '4242', 'sudo', '4242'])
  })

  it('reads every change at once, in place or by a new file, even of equal length', async () => {
    const accounts = new AccountDatabase(files)
    for (let round = 0; round < 50; round++) {
      const name = `user${String(round).padStart(2, '0')}`
      const target = round % 2 === 0 ? files.passwd : `${files.passwd}.new`
      await writeFile(target, `${name}:x:5:5::/:\n`)
      if (target !== files.passwd) await rename(target, files.passwd)
      expect((await accounts.lookupUser(name))?.uid, name).toBe(5)
    }
  })

  it('treats missing files as empty', async () => {
    const accounts = new AccountDatabase(files)
    await rm(files.group)
    expect((await accounts.read()).findUser('user')?.groups).toEqual([1000])
    await rm(files.passwd)
    expect(await accounts.lookupUser('user')).toBeUndefined()
  })

  it('returns root if the image lists no account', async () => {
    const accounts = new AccountDatabase(files)
    const root = { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/sh' }
    for (const text of ['', '# none\n']) {
      await writeFile(files.passwd, text)
      expect(await accounts.lookupUser('root')).toEqual(root)
    }
    await rm(files.passwd)
    expect((await accounts.read()).findUser('root')).toEqual({ ...root, groups: [0] })
    await writeFile(files.passwd, 'user:x:1000:1000::/home/user:\n')
    expect(await accounts.lookupUser('root')).toBeUndefined()
  })
})
