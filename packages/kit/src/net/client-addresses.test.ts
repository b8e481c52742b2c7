import { expect, it } from 'vitest'
import { ClientAddresses, clientKey } from './client-addresses.ts'

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
  // A connection that was reset.
  [undefined, ''],
])('%s counts as %s', (address, key) => expect(clientKey(address)).toBe(key))

it('rejects a front that is not an address', () => {
  expect(() => new ClientAddresses(['front.example'])).toThrow()
  expect(() => new ClientAddresses(['10.0.0.0/33'])).toThrow()
})
