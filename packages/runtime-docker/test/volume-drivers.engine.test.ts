import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { askVolume } from '@sandyard/runtime/contract/ask-volume'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { volumeNames } from '../src/labels.ts'
import type { DockerVolumeStore } from '../src/volumes/docker-volume-store.ts'
import type { VolumeDriver } from '../src/volumes/volume-driver.ts'
import { ENGINE, EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { volumeServer } from './support/volume-server-dist.ts'

const stack = new AsyncDisposableStack()
const key = new Secret(randomId(32))
let bench: EngineBench
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandyard-volumes-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  bench = stack.use(await EngineBench.open({ part: await volumeServer() }))
})
afterAll(() => stack.disposeAsync())

async function open(volumeDriver: VolumeDriver, installation = `test-${randomId(8)}`) {
  const runtime: DockerRuntime = await bench.runtime({ installation, volumeDriver })
  if (runtime.volumes === undefined) throw new Error('the runtime has no volumes')
  const volumes: DockerVolumeStore = runtime.volumes
  return { runtime, volumes, installation }
}

describe('the driver of volumes', () => {
  it.skipIf(ENGINE !== undefined)('may mount a directory for each volume, which is made with it and removed with it', async () => {
    const bind = { name: 'local', options: { type: 'none', o: 'bind', device: `${folder}/{volume}` } }
    const { runtime, volumes, installation } = await open(bind)
    const [one, two] = [`vol-${randomId(8)}`, `vol-${randomId(8)}`]
    await Promise.all([volumes.create(one), volumes.create(two), volumes.create(one)])
    const place = join(folder, volumeNames(installation, one).volume)
    expect(new Set(await readdir(folder))).toEqual(new Set([one, two].map((name) => volumeNames(installation, name).volume)))
    expect((await stat(place)).mode & 0o777).toBe(0o777)

    const spec = sandboxSpec({ mounts: [{ volume: one, path: '/data', readOnly: false }] })
    const inside = new Inside(await runtime.create(spec))
    expect((await inside.sh('mkdir /data/d && echo by the sandbox > /data/d/f && cat /data/d/f')).stdout).toBe('by the sandbox\n')
    const endpoint = await volumes.open(one, key)
    expect(await askVolume(endpoint, { method: 'GET', url: '/file?path=/d/f', key })).toEqual({ status: 200, text: 'by the sandbox\n' })
    // The engine does not look into directories that it mounts.
    expect((await volumes.sizes()).has(one)).toBe(false)
    expect(await volumes.sizeOf(one, 30_000)).toBe('by the sandbox\n'.length)
    expect(await volumes.sizeOf(two, 30_000)).toBe(0)
    expect(await volumes.remove(one)).toBe(false)
    expect(await readdir(place)).toEqual(['d'])
    await runtime.remove(spec)

    // Another driver is in the settings now, and the volume keeps its own.
    const later = await open({ name: 'local', options: {} }, installation)
    expect((await later.volumes.sizeOf(one, 30_000)) > 0).toBe(true)
    expect(await later.volumes.remove(one)).toBe(true)
    expect(await readdir(folder)).toEqual([volumeNames(installation, two).volume])
    // The server died between the volume and its directory.
    await bench.docker.getVolume(volumeNames(installation, two).volume).remove()
    expect(await volumes.remove(two)).toBe(true)
    expect(await readdir(folder)).toEqual([])
  })

  it('may be memory with a limit of its size, which is there while something has it', async () => {
    const memory = { name: 'local', options: { type: 'tmpfs', device: 'tmpfs', o: 'size=1m,mode=1777' } }
    const { runtime, volumes } = await open(memory)
    const name = `vol-${randomId(8)}`
    await volumes.create(name)
    const spec = sandboxSpec({ mounts: [{ volume: name, path: '/data', readOnly: false }] })
    const inside = new Inside(await runtime.create(spec))
    const tried = await inside.sh(
      'su nobody -s /bin/sh -c "echo kept > /data/f"; cat /data/f; head -c 3000000 /dev/zero > /data/big || echo full',
    )
    expect(tried.stdout).toBe('kept\nfull\n')
    await runtime.remove(spec)
    expect(await volumes.remove(name)).toBe(true)
  })

  it('is refused when two volumes would be one directory', async () => {
    const shared = { name: 'local', options: { type: 'none', o: 'bind', device: folder } }
    await expect(open(shared)).rejects.toMatchObject({ kind: 'invalid_argument' })
  })
})
