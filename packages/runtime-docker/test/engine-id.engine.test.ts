import { describe, expect, it } from 'vitest'
import type Docker from 'dockerode'
import { connectEngine } from '../src/engine/connect-engine.ts'
import { ENGINE_IMAGE, ENGINE_VOLUME, engineId } from '../src/engine/engine-id.ts'
import { ENGINE } from './support/engine-bench.ts'
import { secondEngineIsAbsent, startSecondEngine } from './support/second-engine.ts'

const idOf = (docker: Docker): Promise<string> => engineId(docker, AbortSignal.timeout(30_000))

describe('the id of an engine', () => {
  const absent = secondEngineIsAbsent()

  it('differs between two engines on one host, and survives a prune of the volumes or of the images', async ({ skip }) => {
    if (absent !== undefined) skip(absent)
    const first = await connectEngine(ENGINE)
    await using second = await startSecondEngine()
    // Four connections ask at the same time, as four starting servers would.
    const asked = await Promise.all([second, second, second, second].map(async ({ address }) => idOf(await connectEngine(address))))
    expect(new Set(asked).size).toBe(1)
    const [id] = asked
    expect(await idOf(first)).toMatch(/^[a-z0-9]{32}$/)
    expect(await idOf(first)).not.toBe(id)

    await second.docker.getVolume(ENGINE_VOLUME).remove()
    expect(await idOf(second.docker)).toBe(id)
    await second.docker.getImage(ENGINE_IMAGE).remove()
    expect(await idOf(second.docker)).toBe(id)
    await second.docker.getVolume(ENGINE_VOLUME).remove()
    expect(await idOf(second.docker)).toBe(id)
  })
})
