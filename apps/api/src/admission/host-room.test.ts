import { describe, expect, it } from 'vitest'
import type { RuntimeVitals } from '@sandyard/runtime/types'
import { HostRoom } from './host-room.ts'

const MIB = 1024 ** 2

interface Host {
  available: number
  free: number
  /** What the next readings throw. */
  failure?: Error
  reads: number
  now: number
}

function hostOf({ available = 1000, free = 100 }: { available?: number; free?: number } = {}): Host {
  return { available: available * MIB, free: free * MIB, reads: 0, now: 0 }
}

function roomOf(host: Host): HostRoom {
  const vitals = async (): Promise<RuntimeVitals> => {
    host.reads += 1
    if (host.failure !== undefined) throw host.failure
    return {
      guardRestarts: 0,
      disk: { sizeBytes: 1000 * MIB, freeBytes: host.free },
      memory: { totalBytes: 4000 * MIB, availableBytes: host.available },
    }
  }
  return new HostRoom({ vitals, memoryBytes: 4000 * MIB, memoryReserveBytes: 200 * MIB, diskReserveBytes: 50 * MIB, now: () => host.now })
}

describe('the room on a host', () => {
  it('is its available memory without the reserve', async () => {
    const room = roomOf(hostOf())
    expect([await room.shortageOf(800 * MIB), await room.shortageOf(801 * MIB)]).toEqual([undefined, 'memory'])
  })

  it('is without what starts have reserved, until a reading has begun after their end', async () => {
    const host = hostOf()
    const room = roomOf(host)
    expect(await room.shortageOf(800 * MIB)).toBeUndefined()
    const reserved = room.reserve(300 * MIB)
    expect([await room.shortageOf(500 * MIB), await room.shortageOf(501 * MIB)]).toEqual([undefined, 'memory'])
    host.now = 100
    reserved.release()
    expect(await room.shortageOf(501 * MIB)).toBe('memory')
    host.now = 1000
    host.available = 900 * MIB
    expect([await room.shortageOf(700 * MIB), await room.shortageOf(701 * MIB)]).toEqual([undefined, 'memory'])
  })

  it('has no disk below the reserve', async () => {
    expect(await roomOf(hostOf({ free: 49 })).shortageOf(1)).toBe('disk')
    expect(await roomOf(hostOf({ free: 50 })).shortageOf(1)).toBeUndefined()
  })

  it('is read once for the starts of a moment', async () => {
    const host = hostOf()
    const room = roomOf(host)
    await Promise.all(Array.from({ length: 20 }, () => room.shortageOf(1)))
    expect(host.reads).toBe(1)
    host.now = 10_000
    await room.shortageOf(1)
    expect(host.reads).toBe(2)
  })

  it('is there when the engine does not say it, which is asked again later', async () => {
    const host = hostOf({ available: 0 })
    host.failure = new Error('the engine is away')
    const room = roomOf(host)
    expect([await room.shortageOf(MIB), await room.shortageOf(MIB), host.reads]).toEqual([undefined, undefined, 1])
    delete host.failure
    host.now = 10_000
    expect(await room.shortageOf(MIB)).toBe('memory')
  })

  it('is what it was when it was measured last, for a minute in which nobody can measure it', async () => {
    const host = hostOf({ available: 300, free: 49 })
    const room = roomOf(host)
    expect([await room.shortageOf(101 * MIB), await room.shortageOf(MIB)]).toEqual(['memory', 'disk'])
    host.failure = new Error('the guard is busy')
    for (host.now = 1000; host.now < 60_000; host.now += 1000) {
      expect([await room.shortageOf(101 * MIB), await room.shortageOf(MIB)], `after ${host.now} ms`).toEqual(['memory', 'disk'])
    }
    expect(await room.shortageOf(1000 * MIB)).toBeUndefined()
    expect(host.reads).toBe(61)
  })

  it('is without what starts have used since it was measured last', async () => {
    const host = hostOf()
    const room = roomOf(host)
    await room.shortageOf(1)
    host.failure = new Error('the guard is busy')
    host.now = 1000
    room.reserve(300 * MIB).release()
    for (host.now = 2000; host.now < 60_000; host.now += 20_000) {
      expect([await room.shortageOf(500 * MIB), await room.shortageOf(501 * MIB)]).toEqual([undefined, 'memory'])
    }
    delete host.failure
    host.available = 700 * MIB
    expect([await room.shortageOf(500 * MIB), await room.shortageOf(501 * MIB)]).toEqual([undefined, 'memory'])
  })

  it('is all memory without what starts have reserved while nothing says how much is free', async () => {
    const host = hostOf()
    host.failure = new Error('no guard runs on the host')
    const room = roomOf(host)
    room.reserve(3000 * MIB)
    expect([await room.shortageOf(800 * MIB), await room.shortageOf(801 * MIB)]).toEqual([undefined, 'memory'])
  })

  it('keeps a share of the memory without a setting', async () => {
    const vitals = async (): Promise<RuntimeVitals> => ({
      guardRestarts: 0,
      disk: undefined,
      memory: { totalBytes: 10_000 * MIB, availableBytes: 1000 * MIB },
    })
    const room = new HostRoom({ vitals, memoryBytes: 10_000 * MIB, memoryReserveBytes: undefined, diskReserveBytes: 1 })
    expect([await room.shortageOf(600 * MIB), await room.shortageOf(601 * MIB)]).toEqual([undefined, 'memory'])
  })
})
