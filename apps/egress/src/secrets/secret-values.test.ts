import { describe, expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { SecretValues, TooManyLookupsError } from './secret-values.ts'

const KIB = 1024

/** Values that are read when `release` is called, or at once. */
function source({ isHeld = false, sizeOf = () => 1 }: { isHeld?: boolean; sizeOf?: (key: string) => number } = {}) {
  const reads: string[] = []
  const gate = Promise.withResolvers<void>()
  if (!isHeld) gate.resolve()
  const values = new SecretValues(async (keys) => {
    reads.push(...keys)
    await gate.promise
    return new Map(keys.filter((key) => !key.includes('absent')).map((key) => [key, new Secret('x'.repeat(sizeOf(key)))]))
  })
  values.follow(true)
  return { values, reads, release: gate.resolve }
}

const names = (count: number, prefix = 'n') => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const readAll = (values: SecretValues, team: string, all: readonly string[]) => Promise.all(all.map((name) => values.find(team, name)))

describe('the values of secrets', () => {
  it('are read once, and again after a change of their team only', async () => {
    const { values, reads } = source()
    for (const team of ['t', 't', 'u']) await values.find(team, 'a')
    expect(reads).toEqual(['t a', 'u a'])
    values.changed('t')
    for (const team of ['t', 'u']) await values.find(team, 'a')
    expect(reads).toEqual(['t a', 'u a', 't a'])
  })

  it('are kept up to eight mebibytes of a team, the latest ones, and others keep theirs', async () => {
    const { values, reads } = source({ sizeOf: (key) => (key.startsWith('big') ? 64 * KIB : 1) })
    await values.find('small', 'a')
    const all = names(200)
    for (const name of all) await values.find('big', name)
    reads.length = 0
    await values.find('small', 'a')
    for (const name of all.slice(-128)) await values.find('big', name)
    expect(reads).toEqual([])
    await values.find('big', 'n0')
    expect(reads).toEqual(['big n0'])
  })

  it('of a team that asks for very many names do not make the gateway forget those of others', async () => {
    const { values, reads } = source()
    await values.find('small', 'a')
    for (let i = 0; i < 30_000; i += 200) await readAll(values, 'many', names(200, `absent${i}-`))
    for (let i = 0; i < 3000; i += 200) await readAll(values, 'many', names(200, `there${i}-`))
    reads.length = 0
    await values.find('small', 'a')
    expect(reads).toEqual([])
  })
})

describe('lookups that wait', () => {
  it('are 256 of a team: more are refused, while those of other teams and of the same names are not', async () => {
    const { values, release } = source({ isHeld: true })
    const waiting = readAll(values, 't', names(256))
    await expect(values.find('t', 'more')).rejects.toThrow(TooManyLookupsError)
    const same = values.find('t', 'n0')
    const other = values.find('u', 'a')
    release()
    expect((await same)?.reveal()).toBe('x')
    expect((await other)?.reveal()).toBe('x')
    expect((await waiting).every((value) => value !== undefined)).toBe(true)
    expect((await values.find('t', 'more'))?.reveal()).toBe('x')
  })

  it('do not count when they have failed', async () => {
    const values = new SecretValues(() => Promise.reject(new Error('no database')))
    for (let i = 0; i < 600; i += 1) await expect(values.find('t', `n${i}`)).rejects.toThrow('no database')
  })
})
