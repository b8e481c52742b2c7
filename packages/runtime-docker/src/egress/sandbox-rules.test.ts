import { DEFAULT_EGRESS, type EgressPolicy } from '@sandyard/runtime/types'
import { describe, expect, it } from 'vitest'
import { compilePolicy, compileRegistration, compileRemoval } from './sandbox-rules.ts'

const station = { address: '10.5.0.7', mac: '02:42:0a:05:00:07' }
const LOOKUPS = 'ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 goto pass'
const ALLOWED = 'ip daddr . ip protocol @a_10_5_0_7 goto pass'
const DENIED = 'ip daddr . ip protocol @d_10_5_0_7 goto denied'

/** The rules of the sandbox's own chain, in their order. */
function rulesOf(change: Partial<EgressPolicy>): string[] {
  const { text } = compilePolicy('t', station.address, { ...DEFAULT_EGRESS, ...change })
  const prefix = 'add rule inet sandyard-t p_10_5_0_7 '
  return text.split('\n').flatMap((line) => (line.startsWith(prefix) ? [line.slice(prefix.length).replace(/ comment "\w+"$/, '')] : []))
}

describe('the rules of a policy', () => {
  it('are the shared chain for the default, and for an allowance without a denial', () => {
    const shared = { chain: 'open', text: '', mark: undefined }
    expect(compilePolicy('t', station.address, DEFAULT_EGRESS)).toEqual(shared)
    expect(compilePolicy('t', station.address, { ...DEFAULT_EGRESS, allowOut: ['1.1.1.1'] })).toEqual(shared)
  })

  it.each<[string, Partial<EgressPolicy>, string[]]>([
    ['a denied address', { denyOut: ['1.1.1.1'] }, [LOOKUPS, 'jump barred', ALLOWED, DENIED, 'goto pass']],
    ['no internet', { allowInternet: false }, ['jump barred', ALLOWED, 'goto denied', 'goto pass']],
    ['everything denied', { denyOut: ['0.0.0.0/0'] }, ['jump barred', ALLOWED, 'goto denied', 'goto pass']],
    [
      'names',
      { allowInternet: false, gateway: 'names', filterLookups: true },
      ['jump lookups', 'jump barred', ALLOWED, 'jump names', 'goto denied', 'goto pass'],
    ],
    ['headers', { gateway: 'web' }, [LOOKUPS, 'jump barred', 'jump names', ALLOWED, DENIED, 'goto pass']],
    ['a proxy', { gateway: 'all' }, [LOOKUPS, 'jump barred', 'jump connections', ALLOWED, DENIED, 'goto pass']],
    [
      'everything allowed and denied',
      { allowOut: ['0.0.0.0/0'], allowInternet: false },
      ['jump barred', 'goto pass', 'goto denied', 'goto pass'],
    ],
  ])('with %s', (_name, change, rules) => {
    expect(rulesOf(change)).toEqual(rules)
  })

  it('have the same mark for equal policies only', () => {
    const mark = (change: Partial<EgressPolicy>) => compilePolicy('t', station.address, { ...DEFAULT_EGRESS, ...change }).mark
    expect(mark({ denyOut: ['1.1.1.1', '2.2.2.2'] })).toBe(mark({ denyOut: ['2.2.2.2/32', '1.1.1.1'] }))
    expect(mark({ denyOut: ['1.1.1.1'] })).not.toBe(mark({ denyOut: ['1.1.1.2'] }))
    expect(mark({ allowInternet: false })).not.toBe(mark({ allowInternet: false, filterLookups: true }))
  })
})

it('a registration binds the port to the address, and a removal undoes all of it', () => {
  const rules = compilePolicy('t', station.address, { ...DEFAULT_EGRESS, allowInternet: false })
  expect(compileRegistration('t', station, rules)).toContain(
    'add element bridge sandyard-t bound { "@PORT@" . 02:42:0a:05:00:07 . 10.5.0.7 }',
  )
  const found = {
    ports: new Set(['veth1', 'veth2']),
    bound: [
      { ...station, port: 'veth1' },
      { address: '10.5.0.8', mac: '02:42:0a:05:00:08', port: 'veth2' },
    ],
    chains: new Map([
      [station.address, rules.chain],
      ['10.5.0.8', 'open'],
    ]),
    marks: new Map([[rules.chain, rules.mark]]),
  }
  expect(compileRemoval('t', station.address, found).split('\n')).toEqual([
    'delete element bridge sandyard-t bound { "veth1" . 02:42:0a:05:00:07 . 10.5.0.7 }',
    'delete element bridge sandyard-t ports { "veth1" }',
    'delete element inet sandyard-t by_source { 10.5.0.7 : goto p_10_5_0_7 }',
    'flush chain inet sandyard-t p_10_5_0_7',
    'delete chain inet sandyard-t p_10_5_0_7',
    'delete set inet sandyard-t a_10_5_0_7',
    'delete set inet sandyard-t d_10_5_0_7',
  ])
  expect(compileRemoval('t', '10.5.0.9', found)).toBe('')
})
