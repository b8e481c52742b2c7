import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { randomId } from '@sandyard/kit/ids/ids'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DockerEngineArchive } from '../src/archive/docker-engine-archive.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { volumeServer } from './support/volume-server-dist.ts'

const installation = `test-${randomId(8)}`
let bench: EngineBench
let archive: DockerEngineArchive

beforeAll(async () => {
  bench = await EngineBench.open({ part: await volumeServer() })
  archive = new DockerEngineArchive(bench.docker, installation)
})
afterAll(() => bench[Symbol.asyncDispose]())

async function* chunks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

it('brings the files of a paused sandbox back from an archive after the sandbox and its image were removed', async () => {
  const runtime = await bench.runtime({ installation })
  const spec = sandboxSpec()
  await new Inside(await runtime.create(spec)).writeFile('/root/story', 'one')
  await runtime.pause(spec, 'memory')
  const snapshot = await archive.snapshot(spec, 'backup-1')
  expect((await runtime.list(spec.sandboxId))[0]?.state).toBe('frozen')

  const folder = await mkdtemp(join(tmpdir(), 'sandyard-archive-'))
  const file = join(folder, 'images.tar')
  await pipeline(await archive.save([snapshot.image]), createWriteStream(file))
  await runtime.remove(spec)
  await archive.deleteSnapshot(snapshot)
  expect(await archive.imageExists(snapshot.image)).toBe(false)

  await archive.load(createReadStream(file))
  await rm(folder, { recursive: true })
  expect(await archive.imageExists(snapshot.image)).toBe(true)
  const handle = await runtime.createPaused(snapshot, spec)
  const { endpoint, restored } = await runtime.resume(handle, { spec, keep: 'memory' })
  expect(restored).toBe('files')
  expect(await new Inside(endpoint).readFile('/root/story')).toBe('one')
  await archive.deleteSnapshot(snapshot)
})

it('brings the files of a volume back with owners, modes and links, and leaves one that the engine has as it is', async () => {
  const runtime = await bench.runtime({ installation })
  const { volumes } = runtime
  if (volumes === undefined) throw new Error('the runtime has no volumes')
  const name = `vol-${randomId(8)}`
  await volumes.create(name)
  const spec = sandboxSpec({ mounts: [{ volume: name, path: '/data', readOnly: false }] })
  const inside = new Inside(await runtime.create(spec))
  await inside.sh(
    'cd /data && mkdir -m 750 d && echo text > d/f && chown 5:6 d/f && chmod 604 d/f && ln -s d/f l && ln d/f h && chmod 1770 /data && chown 7:8 /data',
  )
  expect(await archive.listVolumes()).toContain(name)
  const saved = await buffer(await archive.saveVolume(name))
  expect(await archive.loadVolume(name, chunks(saved))).toBe(false)
  await runtime.remove(spec)
  expect(await volumes.remove(name)).toBe(true)
  await expect(archive.saveVolume(name)).rejects.toMatchObject({ kind: 'not_found' })

  // A restore that was killed is repeated.
  await expect(archive.loadVolume(name, chunks(saved.subarray(0, 700)))).rejects.toMatchObject({ kind: 'failed_precondition' })
  expect(await archive.loadVolume(name, chunks(saved))).toBe(true)
  expect(await archive.loadVolume(name, chunks(saved))).toBe(false)
  await volumes.create(name)
  const after = new Inside(await runtime.create(spec))
  const { stdout } = await after.sh('cd /data && stat -c "%n %a %u:%g" . d d/f && cat l && stat -c %h d/f')
  expect(stdout).toBe('. 1770 7:8\nd 750 0:0\nd/f 604 5:6\ntext\n2\n')
  await runtime.remove(spec)
})

it('says whether a server of the installation runs with the engine', async () => {
  await bench.runtime({ installation })
  expect(await archive.isServed()).toBe(true)
  expect(await new DockerEngineArchive(bench.docker, `test-${randomId(8)}`).isServed()).toBe(false)
})

it('refuses absent sandboxes, absent images and what is no archive', async () => {
  const none = { sandboxId: `i${randomId(19)}`, incarnation: 1 }
  await expect(archive.snapshot(none, 'backup-2')).rejects.toMatchObject({ kind: 'not_found' })
  await expect(archive.save([`sandyard/snapshot-${installation}:none`])).rejects.toMatchObject({ kind: 'not_found' })
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(2048, 'x')
  }
  await expect(archive.load(broken())).rejects.toMatchObject({ kind: 'failed_precondition' })
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(512)
    throw new Error('the disk broke')
  }
  await expect(archive.load(failing())).rejects.toThrow('the disk broke')
})
