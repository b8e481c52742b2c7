import { randomId } from '@sandyard/kit/ids/ids'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readManifest } from '../src/daemon-volume/daemon-dist.ts'
import { DaemonVolume } from '../src/daemon-volume/daemon-volume.ts'
import { unlessStatus } from '../src/engine/docker-errors.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../src/engine/empty-image.ts'
import { EngineBench } from './support/engine-bench.ts'

describe('the daemon volume', () => {
  const stack = new AsyncDisposableStack()
  const run = randomId(8)
  let bench: EngineBench
  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    await ensureEmptyImage(bench.docker)
  })
  afterAll(() => stack.disposeAsync())

  /** A volume of its own version, as another process would see it. It is removed with the test. */
  async function volumeOf(name: string, dir = bench.dist.dir): Promise<DaemonVolume> {
    const version = `${name}-${run}`
    const volume = new DaemonVolume({
      docker: bench.docker,
      installation: `test-${run}`,
      dist: { dir, version },
      manifest: await readManifest(bench.dist),
    })
    onTestFinished(async () => {
      await unlessStatus(404, () => bench.docker.getContainer(`${volume.name}-door`).remove({ force: true }))
      await unlessStatus(404, () => bench.docker.getVolume(volume.name).remove())
    })
    return volume
  }

  /** The helper containers of this file's volumes: other test files fill volumes at the same time. */
  async function doors(): Promise<string[]> {
    const filters = JSON.stringify({ label: ['sandyard.role=daemon-volume'] })
    const names = (await bench.docker.listContainers({ all: true, filters })).flatMap(({ Names }) => Names)
    return names.filter((name) => name.includes(run))
  }

  it('is filled once by concurrent processes, which leave only the volume', async () => {
    const volumes = await Promise.all(Array.from({ length: 4 }, () => volumeOf('test-many')))
    await Promise.all(volumes.map((volume) => volume.ensure()))
    expect(await Promise.all(volumes.map((volume) => volume.isIntact()))).toEqual([true, true, true, true])
    expect(await doors()).toEqual([])
  })

  it('is filled again after the first filler was killed', async () => {
    const volume = await volumeOf('test-dead')
    // The leftover of a filler that died before it had sent anything.
    await bench.docker.createContainer({
      name: `${volume.name}-door`,
      Image: EMPTY_IMAGE,
      Cmd: ['-'],
      HostConfig: { Mounts: [{ Type: 'volume', Source: volume.name, Target: '/opt/sandyard' }] },
    })
    await volume.ensure()
    expect(await volume.isIntact()).toBe(true)
    expect(await doors()).toEqual([])
  })

  it('is not marked as complete when the filling failed', async () => {
    const failing = await volumeOf('test-failing', '/nowhere')
    await expect(failing.ensure()).rejects.toMatchObject({ kind: 'internal' })
    expect(await failing.isIntact()).toBe(false)
    expect(await doors()).toEqual([])
    const volume = await volumeOf('test-failing')
    await volume.ensure()
    expect(await volume.isIntact()).toBe(true)
  })

  it('is created and filled again after its removal', async () => {
    const volume = await volumeOf('test-pruned')
    await volume.ensure()
    await bench.docker.getVolume(volume.name).remove()
    expect(await volume.isIntact()).toBe(false)
    await volume.ensure()
    expect(await volume.isIntact()).toBe(true)
  })
})
