import { silentLogger } from '@sandyard/kit/logging/create-logger'
import type { SandboxEnd } from '@sandyard/runtime/types'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EndReasons } from './end-reasons.ts'

const SECOND = 1000
const REF = { sandboxId: 'i1', incarnation: 1 }
const begin = new Date('2026-01-01T12:00:00Z')

beforeEach(() => void vi.useFakeTimers({ now: begin, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

function reasons(findEnd: () => SandboxEnd | undefined): EndReasons {
  return new EndReasons({ findEnd: async () => findEnd() }, silentLogger())
}

const pass = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * SECOND)

describe('the reason of an end', () => {
  it.each([
    ['unknown', 'lost'],
    ['out_of_memory', 'out_of_memory'],
    ['engine', 'engine_gone'],
  ] as const)('is by what the engine tells, while it was there: %s', async (cause, expected) => {
    expect(await reasons(() => ({ at: new Date(), cause })).reasonOf(REF)).toBe(expected)
  })

  it('is lost without a sandbox, and when the engine does not answer', async () => {
    expect(await reasons(() => undefined).reasonOf(REF)).toBe('lost')
    const failing = reasons(() => {
      throw new Error('away')
    })
    expect(await failing.reasonOf(REF)).toBe('lost')
  })

  it('is the engine for what ended while it was away, whatever it remembers of the memory', async () => {
    let at = begin
    const ends = reasons(() => ({ at, cause: 'out_of_memory' }))
    pass(3600)
    const left = Date.now()
    ends.engineLeft()
    pass(10)
    ends.engineLeft()
    ends.engineIsThere()
    ends.engineIsThere()
    const reasonAt = (seconds: number) => {
      at = new Date(left + seconds * SECOND)
      return ends.reasonOf(REF)
    }
    expect([await reasonAt(-21), await reasonAt(16)]).toEqual(['out_of_memory', 'out_of_memory'])
    expect([await reasonAt(-19), await reasonAt(5), await reasonAt(14)]).toEqual(['engine_gone', 'engine_gone', 'engine_gone'])
    ends.engineLeft()
    expect(await reasonAt(3600)).toBe('engine_gone')
  })
})
