import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import { EMPTY_IMAGE, ensureEmptyImage } from '../src/engine/empty-image.ts'
import { followAnswer } from '../src/engine/follow-answer.ts'
import { SharedImages } from '../src/images/shared-images.ts'
import { LABEL, roleFilter, snapshotImage } from '../src/labels.ts'
import { collectLeftovers } from '../src/upkeep/collect-leftovers.ts'
import { EngineBench } from './support/engine-bench.ts'
import { HangingEngine } from './support/hanging-engine.ts'
import { secondEngineIsAbsent, startSecondEngine } from './support/second-engine.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const HELPERS = ['guard', 'probe', 'original', 'volume-server', 'volume-copy', 'daemon-volume', 'dockerfile']

describe('the leftovers of a killed server', () => {
  const run = randomId(8)
  const [own, other] = [`test-${run}-a`, `test-${run}-b`]
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let docker: Docker

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    docker = bench.docker
    await ensureEmptyImage(docker)
  })
  afterAll(() => stack.disposeAsync())

  const collect = (afterMs: number): Promise<void> =>
    collectLeftovers({ docker, installation: own, volumeName: bench.volume }, Date.now() + afterMs)

  async function create(installation: string, role: string, volume?: string): Promise<string> {
    const { id } = await docker.createContainer({
      name: `sandyard-test-${randomId(12)}`,
      Image: EMPTY_IMAGE,
      Cmd: ['-'],
      Labels: { [LABEL.installation]: installation, [LABEL.role]: role },
      ...(volume === undefined ? {} : { HostConfig: { Mounts: [{ Type: 'volume', Source: volume, Target: '/x' }] } }),
    })
    stack.defer(() =>
      docker
        .getContainer(id)
        .remove({ force: true })
        .catch(() => undefined),
    )
    return id
  }

  async function containers(): Promise<string[]> {
    const filters = (installation: string): string => JSON.stringify({ label: [`${LABEL.installation}=${installation}`] })
    const found = await Promise.all(
      [own, other].map((installation) => docker.listContainers({ all: true, filters: filters(installation) })),
    )
    return found.flat().map(({ Id }) => Id)
  }

  it('are removed when old and never started, but not those of a sandbox or of another installation', async () => {
    const helpers = await Promise.all(HELPERS.map((role) => create(own, role)))
    const stay = [await create(own, 'sandbox'), ...(await Promise.all(HELPERS.map((role) => create(other, role))))]
    await collect(0)
    expect((await containers()).sort(), 'a live server may be creating them').toEqual([...helpers, ...stay].sort())
    await collect(2 * DAY_MS)
    expect((await containers()).sort()).toEqual(stay.sort())
  })

  it('include a guard whose server was killed between its create and its start', async () => {
    const { installation } = bench.options()
    await using engine = await HangingEngine.open()
    const hang = engine.hangWhere(({ path }) => /\/containers\/\w+\/start$/.test(path))
    const script = new URL('./support/hold-runtime.ts', import.meta.url).pathname
    const args = [script, installation, bench.dist.dir, bench.dist.version, engine.address]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    const exited = once(child, 'exit')
    await hang.untilWaiting(2)
    child.kill('SIGKILL')
    await exited
    const found = async (): Promise<string[]> => {
      const roles = (['guard', 'probe'] as const).map((role) =>
        docker.listContainers({ all: true, filters: roleFilter(installation, role) }),
      )
      return (await Promise.all(roles)).flat().map(({ State }) => State)
    }
    expect(await found()).toEqual(['created', 'created'])
    await collectLeftovers({ docker, installation, volumeName: bench.volume }, Date.now() + DAY_MS)
    expect(await found()).toEqual([])
  })

  it('include daemon volumes of other versions, but not used, current or foreign ones', async () => {
    const make = async (name: string, installation: string): Promise<string> => {
      const Labels = { [LABEL.installation]: installation, [LABEL.role]: 'daemon-volume' }
      await docker.createVolume({ Name: `sandyard-daemon-test-${run}-${name}`, Labels })
      stack.defer(() =>
        docker
          .getVolume(`sandyard-daemon-test-${run}-${name}`)
          .remove()
          .catch(() => undefined),
      )
      return `sandyard-daemon-test-${run}-${name}`
    }
    const [old, current, used, others] = [
      await make('old', own),
      await make('new', own),
      await make('used', own),
      await make('others', other),
    ]
    await create(own, 'sandbox', used)
    const there = async (): Promise<string[]> => {
      const { Volumes: volumes } = await docker.listVolumes({ filters: JSON.stringify({ name: [`sandyard-daemon-test-${run}`] }) })
      return volumes.map(({ Name }) => Name).sort()
    }
    await collectLeftovers({ docker, installation: own, volumeName: current })
    expect(await there(), 'young ones').toEqual([old, current, used, others].sort())
    await collectLeftovers({ docker, installation: own, volumeName: current }, Date.now() + DAY_MS)
    expect(await there()).toEqual([current, used, others].sort())
  })
})

describe('old versions of the images that installations share', () => {
  const absent = secondEngineIsAbsent()

  it('are removed while no other installation is on the engine, guards after an hour and bases when unreferenced', async ({ skip }) => {
    if (absent !== undefined) skip(absent)
    await using engine = await startSecondEngine()
    const { docker } = engine
    const tags = async (): Promise<string[]> => (await docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? []).sort()
    const make = async (name: string): Promise<void> => {
      const [repo, tag] = name.split(':')
      const changes = [`LABEL test=${name}`]
      await followAnswer(await docker.importImage(Readable.from([Buffer.alloc(1024)]), { repo, tag, changes }))
    }
    const all = ['sandyard/base:new', 'sandyard/base:old', 'sandyard/guard:new', 'sandyard/guard:old', 'sandyard/guard:used']
    for (const name of all) await make(name)
    await docker.createContainer({ name: 'used', Image: 'sandyard/guard:used', Cmd: ['-'] })
    const shared = new SharedImages(docker, 'home', { base: 'sandyard/base:new', guard: 'sandyard/guard:new' })

    const later = Date.now() + 2 * HOUR_MS

    await make(snapshotImage('work', 'theirs'))
    await shared.sweepGuards(later)
    expect(await shared.listOldBases()).toEqual([])
    expect(await tags()).toEqual([...all, snapshotImage('work', 'theirs')].sort())

    await docker.getImage(snapshotImage('work', 'theirs')).remove()
    await make(snapshotImage('home', 'mine'))
    // Another server may be about to start its guard from an image that it has just built.
    await shared.sweepGuards()
    expect(await tags()).toEqual([...all, snapshotImage('home', 'mine')].sort())
    await shared.sweepGuards(later)
    expect((await shared.listOldBases()).map(({ image }) => image)).toEqual(['sandyard/base:old'])
    expect([shared.ownsBase('sandyard/base:old'), shared.ownsBase('sandyard/base:new'), shared.ownsBase('debian:12')]).toEqual([
      true,
      false,
      false,
    ])
    await shared.remove('sandyard/base:old')
    expect(await tags()).toEqual(['sandyard/base:new', 'sandyard/guard:new', 'sandyard/guard:used', snapshotImage('home', 'mine')])
  })
})
