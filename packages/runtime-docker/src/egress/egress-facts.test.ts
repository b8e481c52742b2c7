import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { describe, expect, it } from 'vitest'
import { EgressFacts } from './egress-facts.ts'

describe('readResolvers', () => {
  it('reads once for all calls that come during a read, after it, also if that fails', async () => {
    const reads: PromiseWithResolvers<readonly string[]>[] = []
    const facts = factsOf(() => {
      const read = Promise.withResolvers<readonly string[]>()
      reads.push(read)
      return read.promise
    })
    const first = facts.readResolvers()
    const others = Promise.all([facts.readResolvers(), facts.readResolvers(), facts.readResolvers()])
    expect(reads).toHaveLength(1)
    reads[0]?.reject(new Error('the engine does not answer'))
    await expect(first).rejects.toThrow('does not answer')
    await expect.poll(() => reads.length).toBe(2)
    reads[1]?.resolve(['192.0.2.2'])
    await others
    expect([reads.length, facts.resolvers]).toEqual([2, ['192.0.2.2']])
  })

  it('reads again after a read that has failed, and keeps the last addresses', async () => {
    let reads = 0
    const facts = factsOf(async () => {
      reads += 1
      if (reads === 2) throw new Error('the engine does not answer')
      return [`192.0.2.${reads}`]
    })
    await facts.readResolvers()
    await expect(facts.readResolvers()).rejects.toThrow('does not answer')
    expect(facts.resolvers).toEqual(['192.0.2.1'])
    await facts.readResolvers()
    expect(facts.resolvers).toEqual(['192.0.2.3'])
  })
})

function factsOf(readResolvers: () => Promise<readonly string[]>): EgressFacts {
  return new EgressFacts({ log: silentLogger(), readResolvers, companyProxy: undefined })
}
