import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { describe, it } from 'vitest'
import type { SandboxRuntime } from '../sandbox-runtime.ts'
import type { VolumeStore } from '../volume-store.ts'
import { askVolume } from './ask-volume.ts'
import type { ContractBench } from './contract-bench.ts'

/** Which files a sandbox has at a mount is a matter of the engine's own tests. */
export function describeVolumes(bench: () => ContractBench): void {
  const newName = (): string => `vol-${randomId(8)}`
  const find = (skip: (when: boolean, note: string) => void, runtime: SandboxRuntime = bench().runtime): VolumeStore => {
    const { volumes } = runtime
    skip(volumes === undefined, 'absent here: volumes of this runtime')
    if (volumes === undefined) throw new Error('not skipped')
    return volumes
  }

  describe('volumes', () => {
    it('are not there without the capability', ({ expect }) => {
      const { runtime } = bench()
      expect(runtime.volumes === undefined || runtime.capabilities().mounts).toBe(true)
    })

    it('are made and removed once, however often it is asked for', async ({ expect, skip }) => {
      const volumes = find(skip)
      const [one, two] = [newName(), newName()]
      await volumes.create(one)
      await Promise.all([volumes.create(one), volumes.create(two), volumes.create(two)])
      expect((await volumes.list()).filter((name) => [one, two].includes(name)).toSorted()).toEqual([one, two].toSorted())
      expect(await volumes.remove(one)).toBe(true)
      expect(await volumes.remove(one)).toBe(true)
      expect(await volumes.list()).not.toContain(one)
      expect(await volumes.list()).toContain(two)
      await volumes.remove(two)
    })

    it('keep their files between two services, for holders of the key only', async ({ expect, skip }) => {
      const volumes = find(skip)
      const [name, key, other] = [newName(), new Secret(randomId(32)), new Secret(randomId(32))]
      await volumes.create(name)
      const endpoint = await volumes.open(name, key)
      expect(await volumes.open(name, key)).toEqual(endpoint)
      expect((await askVolume(endpoint, { method: 'GET', url: '/path?path=/' })).status).toBe(401)
      expect((await askVolume(endpoint, { method: 'GET', url: '/path?path=/', key: other })).status).toBe(401)
      expect((await askVolume(endpoint, { method: 'PUT', url: '/file?path=/f', body: 'kept', key })).status).toBe(201)
      expect((await volumes.sizes()).get(name)).toBeGreaterThan(0)

      const again = await volumes.open(name, other)
      expect((await askVolume(again, { method: 'GET', url: '/path?path=/', key })).status).toBe(401)
      expect(await askVolume(again, { method: 'GET', url: '/file?path=/f', key: other })).toEqual({ status: 200, text: 'kept' })
      expect(await volumes.remove(name)).toBe(true)
      await expect(volumes.open(name, key)).rejects.toMatchObject({ kind: 'not_found' })
    })

    it('are not removed while a sandbox has them, running or paused', async ({ expect, skip }) => {
      const on = bench()
      const volumes = find(skip)
      const name = newName()
      await volumes.create(name)
      const { spec } = await on.start({ mounts: [{ volume: name, path: '/data', readOnly: false }] })
      expect(await volumes.remove(name)).toBe(false)
      await on.runtime.pause(spec, 'files')
      expect(await volumes.remove(name)).toBe(false)
      expect(await volumes.list()).toContain(name)
      await on.runtime.remove(spec)
      expect(await volumes.remove(name)).toBe(true)
    })

    it('must be there before a sandbox mounts them', async ({ expect, skip }) => {
      const on = bench()
      const volumes = find(skip)
      const name = newName()
      const spec = on.spec({ mounts: [{ volume: name, path: '/data', readOnly: true }] })
      await expect(on.runtime.create(spec)).rejects.toMatchObject({ kind: 'not_found' })
      expect(await on.runtime.list()).toEqual([])
      expect(await volumes.list()).not.toContain(name)
    })

    it('belong to one installation', async ({ expect, skip }) => {
      const on = bench()
      const [mine, theirs] = [find(skip), find(skip, on.other)]
      const [name, key] = [newName(), new Secret(randomId(32))]
      await mine.create(name)
      expect(await theirs.list()).not.toContain(name)
      await expect(theirs.open(name, key)).rejects.toMatchObject({ kind: 'not_found' })
      expect(await theirs.remove(name)).toBe(true)
      expect(await mine.list()).toContain(name)
      await mine.remove(name)
    })
  })
}
