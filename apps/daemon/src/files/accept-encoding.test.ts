import { describe, expect, it } from 'vitest'
import { acceptsIdentity, chooseCoding } from './accept-encoding.ts'

describe('chooseCoding', () => {
  it.each([
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0', 'gzip'],
    ['deflate, gzip, br', 'gzip'],
    ['br;q=1.0, gzip;q=0.5', 'gzip'],
    ['identity', 'identity'],
    ['gzip;q=0.5, identity;q=1.0', 'identity'],
    ['gzip;q=0.5,identity', 'identity'],
    ['identity,gzip', 'identity'],
    ['gzip;q=0, identity', 'identity'],
    ['gzip;q=0, br', 'identity'],
    ['gzip;q=0.000', 'identity'],
    ['gzip;Q=0', 'identity'],
    ['br', 'identity'],
    ['deflate, br', 'identity'],
    ['x-gzip', 'identity'],
    ['*', 'identity'],
    ['*;q=0.5, identity;q=0.2', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['*, identity;q=0', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['gzip, *;q=0', 'gzip'],
    ['*;q=0, identity', 'identity'],
    ['identity;q=0, gzip', 'gzip'],
    ['gzip;q=x', 'gzip'],
    ['gzip;q=', 'gzip'],
    ['gzip;q= 0', 'gzip'],
    ['gzip;q =0', 'gzip'],
    ['gzip ; q=0 ', 'identity'],
    ['gzip;level=1', 'gzip'],
    [' , ,gzip', 'gzip'],
    ['br, identity;q=0', undefined],
    ['identity;q=0', undefined],
    ['*;q=0', undefined],
    ['identity;q=x;q=0', undefined],
  ])('%j is %s (envd.md 18.22)', (header, coding) => {
    expect(chooseCoding(header)).toBe(coding)
  })
})

describe('acceptsIdentity', () => {
  it.each([
    ['', true],
    ['br', true],
    ['gzip', true],
    ['*;q=0, identity', true],
    ['identity;q=0', false],
    ['gzip, *;q=0', false],
  ])('%j: %s', (header, expected) => {
    expect(acceptsIdentity(header)).toBe(expected)
  })
})
