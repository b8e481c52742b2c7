import { expect, it } from 'vitest'
import { parseCidr } from './cidr.ts'

it.for<[string, string | undefined]>([
  ['10.1.2.3', '10.1.2.3/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['192.168.255.255/23', '192.168.254.0/23'],
  ['255.255.255.255/1', '128.0.0.0/1'],
  ['1.2.3.4/0', '0.0.0.0/0'],
  ['1.2.3.4/33', undefined],
  ['1.2.3.4/', undefined],
  ['1.2.3.4/8/8', undefined],
  ['1.2.3', undefined],
  ['1.2.3.256', undefined],
  ['::1', undefined],
  ['', undefined],
])('%s is the network %s', ([text, network]) => {
  expect(parseCidr(text)).toBe(network)
})
