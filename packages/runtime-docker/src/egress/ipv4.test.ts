import { describe, expect, it } from 'vitest'
import { cidrsOf, parseCidr, withoutNested } from './ipv4.ts'

describe('parseCidr', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3/32'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['10.1.2', undefined],
    ['10.1.2.3/33', undefined],
    ['10.1.2.3/-1', undefined],
    ['010.1.2.3', undefined],
    ['::1', undefined],
    ['example.org', undefined],
    ['10.1.2.3 }; flush ruleset', undefined],
    ['', undefined],
  ])('%j: %s', (text, cidr) => {
    expect(parseCidr(text)).toBe(cidr)
  })
})

it('sorts networks, removes duplicates and names an invalid one', () => {
  expect(cidrsOf(['10.9.9.9/8', '1.1.1.1', '10.0.0.0/8'])).toEqual(['1.1.1.1/32', '10.0.0.0/8'])
  expect(() => cidrsOf(['1.1.1.1', 'x"; drop'])).toThrow('"x"; drop" is not an IPv4 address or network.')
})

it('leaves out networks in others, and nothing else', () => {
  const apart = ['0.0.0.0/32', '1.2.3.4/32', '9.255.255.255/32', '10.0.0.0/8', '11.0.0.0/32', '255.255.255.255/32']
  const nested = ['10.0.0.0/9', '10.0.0.0/32', '10.1.0.0/16', '10.1.2.0/24', '10.255.255.255/32']
  expect(withoutNested(cidrsOf([...nested, ...apart]))).toEqual(apart)
  expect(withoutNested([])).toEqual([])
})
