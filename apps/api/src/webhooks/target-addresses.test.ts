import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { TargetAddresses } from './target-addresses.ts'

const none = new TargetAddresses([])

it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111'])('%s is open', (address) => expect(none.isOpen(address)).toBe(true))

it.each([
  '127.0.0.1',
  '127.9.9.9',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'ff02::1',
  'example.com',
  '',
])('%s is closed', (address) => expect(none.isOpen(address)).toBe(false))

it('an address of this host is closed until the operator opens it', () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  expect(own.length).toBeGreaterThan(0)
  for (const { address } of own) expect(none.isOpen(address), address).toBe(false)
})

it('the operator opens private networks, and never metadata services', () => {
  const all = new TargetAddresses(['0.0.0.0/0', '::/0'])
  const some = new TargetAddresses(['127.0.0.1', '10.1.0.0/16', 'fd12::/16'])
  expect(['127.0.0.1', '10.1.2.3', 'fd12::1', '8.8.8.8'].map((address) => some.isOpen(address))).toEqual([true, true, true, true])
  expect(['127.0.0.2', '10.2.0.1', 'fd13::1'].map((address) => some.isOpen(address))).toEqual([false, false, false])
  expect(['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', '0.0.0.0'].map((address) => all.isOpen(address))).toEqual([
    false,
    false,
    false,
    false,
  ])
})

it('the addresses of the host of the engine are closed until the operator opens them', () => {
  const [targets, opened] = [new TargetAddresses([]), new TargetAddresses(['198.41.0.4'])]
  for (const each of [targets, opened]) {
    each.setHost(['198.41.0.4', '2a01::7', 'not an address'])
    expect(each.isOpen('8.8.8.8')).toBe(true)
  }
  expect(['198.41.0.4', '2a01::7'].map((address) => targets.isOpen(address))).toEqual([false, false])
  expect(opened.isOpen('198.41.0.4')).toBe(true)
  opened.setHost([])
  expect(opened.isOpen('8.8.8.8')).toBe(true)
})

it('what the operator denies stays closed, public or opened', () => {
  const targets = new TargetAddresses(['10.0.0.0/8'], ['8.8.0.0/16', '10.1.0.0/16', '2606:4700::/32'])
  const [closed, open] = [
    ['8.8.8.8', '10.1.2.3', '2606:4700:4700::1111'],
    ['8.9.8.8', '10.2.0.1', '2a00::1'],
  ]
  expect(closed?.map((address) => targets.isOpen(address))).toEqual([false, false, false])
  expect(open?.map((address) => targets.isOpen(address))).toEqual([true, true, true])
})
