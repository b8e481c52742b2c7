import { describe, expect, it } from 'vitest'
import { addCounts, closingLine, exitCode, NOTHING, oneFailed, onePassed, oneSkipped, refuseSkips } from './counts.ts'

describe('closingLine', () => {
  it.each([
    [[onePassed(), onePassed()], '2 passed, 0 failed', 0],
    [[onePassed(), oneFailed('lint')], '1 passed, 1 failed', 1],
    [[onePassed(), oneSkipped('engine', 'none answers')], '1 passed, 0 failed, 1 skipped', 0],
    [[], '0 passed, 0 failed', 1],
    [[oneSkipped('engine', 'none answers')], '0 passed, 0 failed, 1 skipped', 1],
  ])('of %j', (all, line, code) => {
    const total = addCounts([NOTHING, ...all])
    expect([closingLine(total), exitCode(total)]).toEqual([line, code])
  })
})

describe('refuseSkips', () => {
  it('turns each skip into a failure that keeps its reason', () => {
    const refused = refuseSkips(addCounts([onePassed(), oneSkipped('engine', 'none answers')]))
    expect(closingLine(refused)).toBe('1 passed, 1 failed')
    expect(refused.failures[0]).toContain('engine: none answers')
  })

  it('accepts a skip for a feature that the machine does not have, and still lists it', () => {
    const skips = [oneSkipped('watchers > on a mount', 'absent here: /dev/fuse'), oneSkipped('engine', 'none is absent here: start one')]
    const refused = refuseSkips(addCounts([onePassed(), ...skips]))
    expect(closingLine(refused)).toBe('1 passed, 1 failed, 1 skipped')
    expect(refused.skips).toEqual(['watchers > on a mount: absent here: /dev/fuse'])
    expect(refused.failures).toEqual(['left out, which CI does not allow: engine: none is absent here: start one'])
    expect(exitCode(refuseSkips(addCounts([onePassed(), oneSkipped('watchers', 'absent here: /dev/fuse')])))).toBe(0)
  })
})
