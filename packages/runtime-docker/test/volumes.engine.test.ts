import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import { askVolume } from '@sandyard/runtime/contract/ask-volume'
import type { SandboxMount, SandboxSpec } from '@sandyard/runtime/types'
import type { VolumeEndpoint } from '@sandyard/runtime/volume-store'
import type Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { CLOSED_EGRESS } from '../src/egress/closed-egress.ts'
import { compilePolicy } from '../src/egress/sandbox-rules.ts'
import { unlessStatus } from '../src/engine/docker-errors.ts'
import { containerName, roleFilter, volumeNames } from '../src/labels.ts'
import { openParts } from '../src/runtime-parts.ts'
import { collectLeftovers } from '../src/upkeep/collect-leftovers.ts'
import { findOrphans } from '../src/upkeep/orphans.ts'
import { repairEgress } from '../src/upkeep/repair-egress.ts'
import { DockerVolumeStore } from '../src/volumes/docker-volume-store.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { volumeServer } from './support/volume-server-dist.ts'

const DAY_MS = 86_400_000

describe('volumes on Docker', () => {
  const installation = `test-${randomId(8)}`
  const key = new Secret(randomId(32))
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let docker: Docker
  let runtime: DockerRuntime
  let volumes: DockerVolumeStore

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open({ part: await volumeServer() }))
    ;({ docker } = bench)
    runtime = await bench.runtime({ installation })
    if (runtime.volumes === undefined) throw new Error('the runtime has no volumes')
    volumes = runtime.volumes
  })
  afterAll(() => stack.disposeAsync())

  async function makeVolume(): Promise<string> {
    const name = `vol-${randomId(8)}`
    await volumes.create(name)
    return name
  }

  async function start(...mounts: SandboxMount[]): Promise<{ spec: SandboxSpec; inside: Inside }> {
    const spec = sandboxSpec({ mounts })
    return { spec, inside: new Inside(await runtime.create(spec)) }
  }

  function ask(endpoint: VolumeEndpoint, method: string, url: string, body?: string): Promise<{ status: number; text: string }> {
    return askVolume(endpoint, { method, url, key, ...(body === undefined ? {} : { body }) })
  }

  it('are refused at a path that is a file of the image, and no container is left', async () => {
    const volume = await makeVolume()
    const spec = sandboxSpec({ mounts: [{ volume, path: '/etc/os-release', readOnly: false }] })
    await expect(runtime.create(spec)).rejects.toMatchObject({ kind: 'invalid_argument', path: '/etc/os-release' })
    expect(await runtime.list(spec.sandboxId)).toEqual([])
    const below = sandboxSpec({ mounts: [{ volume, path: '/etc/passwd/below', readOnly: false }] })
    await expect(runtime.create(below)).rejects.toMatchObject({ kind: 'invalid_argument' })
  })

  it('are measured one by one, by a container that leaves nothing', async () => {
    const volume = await makeVolume()
    const endpoint = await volumes.open(volume, key)
    expect((await ask(endpoint, 'PUT', '/file?path=/a/f&force=true&mode=0', 'x'.repeat(12_345))).status).toBe(201)
    expect(await volumes.sizeOf(volume, 30_000)).toBe(12_345)
    await expect(volumes.sizeOf(volume, 30_000, AbortSignal.abort(new AppError('canceled', 'stopped')))).rejects.toThrow('stopped')
    await expect(volumes.sizeOf('absent', 30_000)).rejects.toMatchObject({ kind: 'not_found' })
    const filters = roleFilter(installation, 'volume-tool')
    const what = { what: 'the end of the containers', timeoutMs: 30_000, everyMs: 50 }
    await pollUntil(what, async () => (await docker.listContainers({ all: true, filters })).length === 0 || undefined)
    expect(await volumes.remove(volume)).toBe(true)
  })

  it('are shared by two sandboxes at once, and by the file service', async () => {
    const volume = await makeVolume()
    const mount = { volume, path: '/data/shared', readOnly: false }
    const [one, two] = [await start(mount), await start({ ...mount, path: '/mnt' })]
    expect(
      (await one.inside.sh('stat -c %a /data/shared; touch /data/shared/a; su nobody -s /bin/sh -c "echo by nobody > /data/shared/n"'))
        .stdout,
    ).toBe('777\n')
    expect((await two.inside.sh('cat /mnt/n; echo two > /mnt/b; ls /mnt')).stdout).toBe('by nobody\na\nb\nn\n')
    // Both append at the same time: no line is lost.
    const append = (at: Inside, path: string, line: string): Promise<unknown> =>
      at.sh(`for i in $(seq 500); do echo ${line} >> ${path}/log; done`)
    await Promise.all([append(one.inside, '/data/shared', 'one'), append(two.inside, '/mnt', 'two')])
    expect((await one.inside.sh('grep -c one /mnt/log /data/shared/log 2>/dev/null; wc -l < /data/shared/log')).stdout).toBe(
      '/data/shared/log:500\n1000\n',
    )

    const endpoint = await volumes.open(volume, key)
    expect(await ask(endpoint, 'GET', '/file?path=/n')).toEqual({ status: 200, text: 'by nobody\n' })
    expect((await ask(endpoint, 'PUT', '/file?path=/new/x&force=true', 'from outside')).status).toBe(201)
    expect((await two.inside.sh('cat /mnt/new/x; stat -c %u:%a /mnt/new/x')).stdout).toBe('from outside9090:666\n')
    await runtime.remove(one.spec)
    await runtime.remove(two.spec)
    expect((await ask(await volumes.open(volume, key), 'GET', '/file?path=/b')).text).toBe('two\n')
  })

  it('are empty when an image has files at the path, and read-only where it is asked for', async () => {
    const volume = await makeVolume()
    const [writer, reader] = [
      await start({ volume, path: '/usr/share/doc', readOnly: false }),
      await start({ volume, path: '/data', readOnly: true }),
    ]
    expect((await writer.inside.sh('ls -A /usr/share/doc; echo 1 > /usr/share/doc/f')).stdout).toBe('')
    expect((await reader.inside.sh('cat /data/f')).stdout).toBe('1\n')
    for (const command of ['echo 2 > /data/f', 'touch /data/new', 'rm /data/f', 'chmod 700 /data', 'mount -o remount,rw /data']) {
      const { code, stderr } = await reader.inside.sh(command)
      expect(code, command).not.toBe(0)
      expect(stderr, command).toMatch(/Read-only file system|not permitted|permission denied|must be superuser/i)
    }
    expect((await writer.inside.sh('cat /usr/share/doc/f')).stdout).toBe('1\n')
    await runtime.remove(writer.spec)
    await runtime.remove(reader.spec)
  })

  it('survive pauses of both kinds, a snapshot leaves them out, and a removal waits for their users', async () => {
    const volume = await makeVolume()
    const mount = { volume, path: '/data', readOnly: false }
    const { spec, inside } = await start(mount)
    await inside.sh('echo kept > /data/f; echo own > /root/own')
    for (const keep of ['memory', 'files'] as const) {
      const handle = await runtime.pause(spec, keep)
      expect(await volumes.remove(volume)).toBe(false)
      const { endpoint } = await runtime.resume(handle, { spec, keep })
      expect((await new Inside(endpoint).sh('cat /data/f')).stdout).toBe('kept\n')
    }
    const snapshot = await runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })
    const plain = sandboxSpec()
    const restored = new Inside(await runtime.createFrom(snapshot, plain))
    expect((await restored.sh('cat /root/own; ls -A /data')).stdout).toBe('own\n')
    const mounted = sandboxSpec({ mounts: [mount] })
    expect((await new Inside(await runtime.createFrom(snapshot, mounted)).sh('cat /data/f')).stdout).toBe('kept\n')
    await runtime.remove(spec)
    expect(await volumes.remove(volume)).toBe(false)
    for (const ref of [plain, mounted]) await runtime.remove(ref)
    await runtime.deleteSnapshot(snapshot)

    await volumes.open(volume, key)
    expect(await volumes.remove(volume)).toBe(true)
    expect(await volumes.remove(volume)).toBe(true)
    expect(await volumes.list()).not.toContain(volume)
    await expect(volumes.open(volume, key)).rejects.toMatchObject({ kind: 'not_found' })
    await expect(runtime.create(sandboxSpec({ mounts: [mount] }))).rejects.toMatchObject({ kind: 'not_found' })
    expect(await volumes.list()).not.toContain(volume)
  })

  it('cannot be left through the file service, whatever a sandbox puts into them', async () => {
    const volume = await makeVolume()
    const { spec, inside } = await start({ volume, path: '/data', readOnly: false })
    await inside.sh('cd /data; ln -s /opt/sandyard/dist.json a; ln -s ../../../opt b; ln -s / c; ln -s /proc/1/root d')
    const endpoint = await volumes.open(volume, key)
    for (const path of [
      '/a',
      '/b/sandyard/dist.json',
      '/c/opt/sandyard/dist.json',
      '/d/etc/hostname',
      '/../../opt/sandyard/dist.json',
      '/../proc/self/environ',
    ]) {
      expect((await ask(endpoint, 'GET', `/file?path=${encodeURIComponent(path)}`)).status, path).toBe(404)
    }
    // A link to the root is the root of the volume.
    const listing = JSON.parse((await ask(endpoint, 'GET', '/dir?path=/c')).text) as { name: string }[]
    expect(listing.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])

    // A directory and a link to the root change places all the time, while files are written and read below that name.
    await inside.sh(
      'cd /data; (while :; do ln -sT / swap; rm -f swap; mkdir -p swap/tmp; rm -rf swap; done) >/dev/null 2>&1 & echo $! > /root/pid',
    )
    const statuses = new Set<number>()
    let round = 0
    const race = async (): Promise<true | undefined> => {
      round += 1
      statuses.add((await ask(endpoint, 'PUT', `/file?path=/swap/tmp/f${round}&force=true`, 'x')).status)
      statuses.add((await ask(endpoint, 'GET', '/file?path=/swap/opt/sandyard/dist.json')).status)
      // The link has led to the root of the volume at least once.
      return round >= 100 && (await ask(endpoint, 'GET', '/path?path=/tmp')).status === 200 ? true : undefined
    }
    await pollUntil({ what: 'a write through the link', timeoutMs: 60_000, everyMs: 0 }, race)
    await inside.sh('kill $(cat /root/pid)')
    expect([...statuses].filter((status) => ![201, 400, 404, 409].includes(status))).toEqual([])
    expect((await inside.sh('ls /tmp; ls /data/tmp')).stdout).toMatch(/^f\d+\n/)
    await runtime.remove(spec)
  })

  it('have a file service that needs its key and is out of reach of sandboxes', async () => {
    const volume = await makeVolume()
    const [endpoint, again] = await Promise.all([volumes.open(volume, key), volumes.open(volume, key)])
    expect(again).toEqual(endpoint)
    expect((await askVolume(endpoint, { method: 'GET', url: '/path?path=/' })).status).toBe(401)
    const { server } = volumeNames(installation, volume)
    const { Id, HostConfig, Args } = await docker.getContainer(server).inspect()
    expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, AutoRemove: true, CapDrop: ['ALL'], PidsLimit: 64 })
    expect(JSON.stringify(await docker.getContainer(server).inspect())).not.toContain(key.reveal())
    expect(Args.join(' ')).toContain('-instance=')

    const { spec, inside } = await start()
    expect(await inside.dial(endpoint.host, endpoint.port)).not.toBe('open')
    const sandboxes = await bench.docker.listContainers({ filters: roleFilter(installation, 'sandbox'), all: true })
    expect((await runtime.list()).length).toBe(sandboxes.length)
    await runtime.remove(spec)

    // Another key means another service; the former one is gone.
    const other = new Secret(randomId(32))
    const changed = await volumes.open(volume, other)
    expect((await ask(changed, 'GET', '/path?path=/')).status).toBe(401)
    expect((await docker.getContainer(server).inspect()).Id).not.toBe(Id)
  })

  it('have a file service that stays closed and reachable when the egress rules are repaired', async () => {
    const volume = await makeVolume()
    const endpoint = await volumes.open(volume, key)
    const { egress, ...parts } = await openParts(bench.options({ installation }))
    if (egress === undefined) throw new Error('the egress rules are not enforced')
    try {
      const repair = (): Promise<void> => repairEgress({ ...parts, egress, apply: async () => undefined })
      const chainOf = async (): Promise<string | undefined> => (await egress.registered()).chains.get(endpoint.host)
      const closed = compilePolicy(installation, endpoint.host, CLOSED_EGRESS).chain
      for (const disturb of [async () => undefined, () => egress.unregister(endpoint.host)]) {
        await disturb()
        await repair()
        expect(await chainOf()).toBe(closed)
        expect((await ask(endpoint, 'GET', '/path?path=/')).status).toBe(200)
      }
    } finally {
      await egress[Symbol.asyncDispose]()
    }
  })

  it('have a file service that is started again after its end', async () => {
    const volume = await makeVolume()
    await volumes.open(volume, key)
    const { server } = volumeNames(installation, volume)
    await docker.getContainer(server).kill()
    const endpoint = await volumes.open(volume, key)
    expect((await ask(endpoint, 'GET', '/path?path=/')).status).toBe(200)
    // The engine removes one that has ended.
    await docker.getContainer(server).kill()
    const isGone = async (): Promise<true | undefined> =>
      (await unlessStatus(404, () => docker.getContainer(server).inspect())) === undefined ? true : undefined
    await pollUntil({ what: 'the removal of the service', timeoutMs: 30_000, everyMs: 50 }, isGone)
  })

  it('are writable for everyone also when the server died while it made them', async () => {
    const name = `vol-${randomId(8)}`
    const dying = Object.create(docker, {
      getContainer: {
        value: (id: string) => Object.assign(docker.getContainer(id), { putArchive: () => Promise.reject(new Error('killed')) }),
      },
    }) as Docker
    const unfinished = new DockerVolumeStore({ docker: dying, installation } as ConstructorParameters<typeof DockerVolumeStore>[0])
    await expect(unfinished.create(name)).rejects.toThrow()
    await collectLeftovers({ docker, installation, volumeName: bench.volume }, Date.now() + 2 * DAY_MS)
    await volumes.create(name)
    const { spec, inside } = await start({ volume: name, path: '/data', readOnly: false })
    expect((await inside.sh('stat -c %a /data; chmod 700 /data')).stdout).toBe('777\n')
    await volumes.create(name)
    expect((await inside.sh('stat -c %a /data')).stdout).toBe('700\n')
    await runtime.remove(spec)
  })

  it('are measured, and are never orphans', async () => {
    const volume = await makeVolume()
    const endpoint = await volumes.open(volume, key)
    await ask(endpoint, 'PUT', '/file?path=/f', 'x'.repeat(300_000))
    const size = (await volumes.sizes()).get(volume) ?? 0
    expect(size).toBeGreaterThanOrEqual(300_000)
    expect(size).toBeLessThan(400_000)
    const records = { unownedSandboxes: async () => [], unneededImages: async () => [], hasServer: async () => true }
    const orphans = await findOrphans({ docker, installation }, records, Date.now() + 30 * DAY_MS)
    expect(orphans.filter(({ kind }) => kind === 'volume')).toEqual([])
    await collectLeftovers({ docker, installation, volumeName: bench.volume }, Date.now() + 30 * DAY_MS)
    expect(await volumes.list()).toContain(volume)
  })

  it('have names on the engine that do not tell theirs', async () => {
    const volume = await makeVolume()
    const { spec } = await start({ volume, path: '/data', readOnly: false })
    const { Mounts } = await docker.getContainer(containerName(installation, spec)).inspect()
    expect(Mounts.map(({ Name }) => Name)).toContain(volumeNames(installation, volume).volume)
    expect(JSON.stringify(Mounts)).not.toContain(volume)
    await runtime.remove(spec)
  })
})
