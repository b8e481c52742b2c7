import { describe, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type { ImageRef } from '../types.ts'
import type { ContractBench } from './contract-bench.ts'

export function describeImages(bench: () => ContractBench): void {
  const listed = async (on: ContractBench): Promise<ImageRef[]> => (await on.runtime.images.list()).map(({ image }) => image)

  describe('images', () => {
    it('uses an image of the engine as it is, and returns its facts', async ({ expect }) => {
      const on = bench()
      const facts = await on.runtime.images.pull({ reference: on.spec().image })
      expect(facts).toEqual(await on.runtime.images.inspect(facts.image))
      expect(await listed(on)).not.toContain(facts.image)
      await on.runtime.images.remove(facts.image)
      expect(await on.runtime.imageExists(facts.image)).toBe(true)
      await on.start({ image: facts.image })
    })

    it.for(['', 'Upper/case', 'a b', ':tag', 'a@b'])('rejects the invalid reference %j', async (reference, { expect }) => {
      await expect(bench().runtime.images.pull({ reference })).rejects.toMatchObject({ kind: 'invalid_argument' })
    })

    it('rejects an absent image with not_found', async ({ expect }) => {
      await expect(bench().runtime.images.inspect('sandyard/no-such-image:1')).rejects.toMatchObject({ kind: 'not_found' })
      await bench().runtime.images.remove('sandyard/no-such-image:1')
    })

    it('lists a snapshot with the facts of its base image, and does not pull it by name', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const before = Date.now()
      const { spec } = await on.start()
      const { image } = await on.runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })
      const kept = (await on.runtime.images.list()).find((found) => found.image === image)
      expect(Math.abs((kept?.createdAt.getTime() ?? 0) - before)).toBeLessThan(60_000)
      const [facts, source] = [await on.runtime.images.inspect(image), await on.runtime.images.inspect(spec.image)]
      expect(facts.env).toEqual(source.env)
      expect(facts.sizeBytes).toBeGreaterThanOrEqual(source.sizeBytes)
      await expect(on.runtime.images.pull({ reference: image })).rejects.toMatchObject({ kind: 'not_found' })
      await on.runtime.images.remove(image)
      await on.runtime.images.remove(image)
      expect(await listed(on)).not.toContain(image)
      expect(await on.runtime.imageExists(image)).toBe(false)
    })

    it('keeps the images that are built on a removed image', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const first = await on.start()
      await first.inside.writeFile('/root/first', '1')
      const lower = await on.runtime.snapshot(first.spec, { name: `snap-${randomId(8)}`, keep: 'files' })
      const second = on.spec()
      const inside = on.inside(second, await on.runtime.create({ ...second, image: lower.image }))
      await inside.writeFile('/root/second', '2')
      const upper = await on.runtime.snapshot(second, { name: `snap-${randomId(8)}`, keep: 'files' })
      await on.runtime.images.remove(lower.image)
      await on.runtime.remove(second)
      const third = on.spec()
      const last = on.inside(third, await on.runtime.createFrom(upper, third))
      expect([await last.readFile('/root/first'), await last.readFile('/root/second')]).toEqual(['1', '2'])
      await on.runtime.images.remove(upper.image)
      expect(await last.readFile('/root/first')).toBe('1')
    })

    it('builds a Dockerfile in a sandbox, and starts several sandboxes from the image', async ({ expect }) => {
      const on = bench()
      const { spec: within } = await on.start()
      const lines: string[] = []
      const dockerfile = `FROM ${within.image}\nENV GREETING=hi\n`
      const facts = await on.runtime.images.buildDockerfile({ dockerfile, within, force: false, onLine: (line) => lines.push(line) })
      expect(lines).toEqual([`Step 1/2 : FROM ${within.image}`, 'Step 2/2 : ENV GREETING=hi'])
      expect(await on.runtime.images.inspect(facts.image)).toEqual(facts)
      expect(await listed(on)).toContain(facts.image)
      await on.start({ image: facts.image })
      await on.runtime.images.remove(facts.image)
      expect(await listed(on)).not.toContain(facts.image)
    })

    it('rejects a build without a running sandbox or with an aborted signal', async ({ expect }) => {
      const on = bench()
      const dockerfile = `FROM ${on.spec().image}\n`
      const build = { dockerfile, force: true }
      await expect(on.runtime.images.buildDockerfile({ ...build, within: on.spec() })).rejects.toMatchObject({ kind: 'not_found' })
      const { spec: within, inside } = await on.start()
      const reason = new Error('aborted by the test')
      await expect(on.runtime.images.buildDockerfile({ ...build, within }, AbortSignal.abort(reason))).rejects.toBe(reason)
      await expect(on.runtime.images.pull({ reference: within.image }, AbortSignal.abort(reason))).rejects.toBe(reason)
      await inside.end()
      await on.untilState(within, 'stopped')
      await expect(on.runtime.images.buildDockerfile({ ...build, within })).rejects.toMatchObject({ kind: 'failed_precondition' })
      expect(await listed(on)).toEqual([])
    })

    it("does not list or remove another installation's images", async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const { spec } = await on.start()
      const { image } = await on.runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })
      expect((await on.other.images.list()).map((kept) => kept.image)).not.toContain(image)
      await on.other.images.remove(image)
      expect(await on.runtime.imageExists(image)).toBe(true)
      await on.runtime.images.remove(image)
    })
  })
}
