import { expect, it } from 'vitest'
import { lookupProxy } from './lookup-proxy.ts'

it.each(['10.0.0.5', '100.64.0.1', '203.0.113.9', '192.168.1.1'])('an address such as %s is its own', async (address) => {
  expect(await lookupProxy(address)).toEqual([address])
})

it.each(['localhost', '127.0.0.1', '169.254.169.254', '0.0.0.0', '224.0.0.1', '255.255.255.255', 'nothing.invalid'])(
  '%s has no address for sandboxes',
  async (host) => {
    await expect(lookupProxy(host)).rejects.toThrow()
  },
)
