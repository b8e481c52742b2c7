import { expect, it } from 'vitest'
import { compilePolicy } from '../policy/compile-policy.ts'
import { SandboxCatalog } from './sandbox-catalog.ts'

it('reads the sandbox of an address each time while changes are not announced', async () => {
  let current = 'ia'
  const catalog = new SandboxCatalog((addresses) => {
    const read = (address: string) =>
      ({
        sandboxId: current,
        teamId: 't',
        address,
        incarnation: 1,
        startedAt: 1,
        policy: compilePolicy({}, null),
        identityTokens: new Map(),
      }) as const
    return Promise.resolve(new Map(addresses.map((address) => [address, read(address)])))
  })
  const find = async (): Promise<string | undefined> => (await catalog.find('10.0.0.2'))?.sandboxId
  expect(await find()).toBe('ia')
  current = 'ib'
  expect(await find()).toBe('ib')
  catalog.follow(true)
  expect(await find()).toBe('ib')
  current = 'ic'
  expect(await find()).toBe('ib')
  catalog.forget('ib')
  expect(await find()).toBe('ic')
  current = 'id'
  catalog.follow(false)
  expect(await find()).toBe('id')
  current = 'ie'
  expect(await find()).toBe('ie')
})
