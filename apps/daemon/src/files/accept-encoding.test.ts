import { describe, expect, it } from 'vitest'
import { acceptsIdentity, chooseCoding, demandsCoding } from './accept-encoding.ts'

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
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd,gzip,br', 'zstd'],
    ['gzip;q=0.9, zstd;q=0.8', 'gzip'],
    ['gzip;q=0.8, zstd;q=0.9', 'zstd'],
    ['gzip, zstd;q=0', 'gzip'],
    ['identity, zstd', 'identity'],
    ['*;q=0, zstd', 'zstd'],
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

describe('demandsCoding', () => {
  it.each([
    ['gzip', true],
    ['GZIP;q=0.5', true],
    ['zstd', true],
    ['gzip, deflate, identity;q=0', true],
    ['gzip, *;q=0', true],
    ['gzip, deflate', false],
    ['gzip, identity', false],
    ['zstd,gzip,br', false],
  ])('%j: %s', (header, expected) => {
    expect(demandsCoding(header)).toBe(expected)
  })
})
