import { describe, expect, it } from 'vitest'
import { OutputFanout } from './output-fanout.ts'

const NEVER_MS = 2 ** 31 - 1
const END = { exitCode: 0, exited: true, status: 'exit status 0' }
const chunk = (size: number) => ({ kind: 'stdout', bytes: new Uint8Array(size) }) as const

describe('OutputFanout', () => {
  it('drops output without subscribers and gives later output to every subscriber', async () => {
    const fanout = new OutputFanout(() => undefined)
    fanout.publish(chunk(1))
    const [a, b] = [fanout.subscribe(), fanout.subscribe()]
    fanout.publish(chunk(2))
    fanout.end(END)
    for (const subscription of [a, b]) {
      expect(await subscription.next(NEVER_MS)).toEqual(chunk(2))
      expect(await subscription.next(NEVER_MS)).toEqual({ kind: 'end', end: END })
    }
    expect(await fanout.subscribe().next(NEVER_MS)).toEqual({ kind: 'end', end: END })
  })

  it('is stalled by its slowest subscriber until it reads or is closed', async () => {
    let releases = 0
    const fanout = new OutputFanout(() => (releases += 1))
    const [slow, slower, quick] = [fanout.subscribe(), fanout.subscribe(), fanout.subscribe()]
    while (!fanout.isStalled) fanout.publish(chunk(32 * 1024))
    while ((await quick.next(0)) !== 'idle');
    expect([fanout.isStalled, releases]).toEqual([true, 0])
    await slow.next(NEVER_MS)
    expect(releases).toBe(0)
    slower.close()
    expect([fanout.isStalled, releases]).toEqual([false, 1])
    expect(await slower.next(NEVER_MS)).toBeUndefined()
  })

  it('is stalled by a bounded number of events, even if they are small', () => {
    const fanout = new OutputFanout(() => undefined)
    fanout.subscribe()
    let pieces = 0
    for (; !fanout.isStalled; pieces += 1) fanout.publish(chunk(1))
    expect(pieces).toBeLessThan(1000)
  })

  it('reports idle time, but not after the output has ended', async () => {
    const fanout = new OutputFanout(() => undefined)
    const subscription = fanout.subscribe()
    expect(await subscription.next(1)).toBe('idle')
    fanout.endOutput()
    const last = subscription.next(1)
    fanout.end(END)
    expect(await last).toEqual({ kind: 'end', end: END })
  })

  it('a closed subscription wakes its reader, with the reason if there is one', async () => {
    const fanout = new OutputFanout(() => undefined)
    const [a, b] = [fanout.subscribe(), fanout.subscribe()]
    const [left, failed] = [a.next(NEVER_MS), b.next(NEVER_MS)]
    a.close()
    b.close(new Error('too late'))
    expect(await left).toBeUndefined()
    await expect(failed).rejects.toThrow('too late')
  })
})
