import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { nameWithoutVolumes } from '../src/images/image-volumes.ts'
import { KeptImages, tagImage } from '../src/images/kept-images.ts'
import { containerName, LABEL } from '../src/labels.ts'
import { DEBIAN, EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { buildTestImage } from './support/test-images.ts'

const DOCKERFILE = String.raw`
FROM debian:bookworm-slim
RUN mkdir -m 1770 /data && chown 7:8 /data && echo seed > /data/seed && rm -rf /var/lib/absent
VOLUME /data
VOLUME ["/var/lib/absent/deep", "/data/"]
ENV GREETING="say \"\$hi\" \\"
WORKDIR /srv
USER 7:7
`

describe('the volumes of images', () => {
  const installation = `test-${randomId(8)}`
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let kept: KeptImages
  let foreign: string

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    runtime = await bench.runtime({ installation })
    kept = new KeptImages(bench.docker, installation)
    foreign = await buildTestImage(bench.docker, 'volumes', DOCKERFILE)
  })
  afterAll(() => stack.disposeAsync())

  async function settingsOf(image: string): Promise<Record<string, unknown>> {
    const { Config } = await bench.docker.getImage(image).inspect()
    const { Image: _, Hostname: __, Labels: ___, Volumes: volumes, ...others } = Config
    return { ...others, Volumes: volumes ?? {} }
  }

  async function nameless(): Promise<string[]> {
    const filters = JSON.stringify({ dangling: ['true'], label: [`${LABEL.installation}=${installation}`] })
    return (await bench.docker.listImages({ filters })).map(({ Id }) => Id)
  }

  /** Whether the files at the former volumes are there, are kept by a snapshot, and no volume is mounted. */
  async function checkFiles(image: string): Promise<void> {
    const spec = sandboxSpec({ image })
    const inside = new Inside(await runtime.create(spec))
    expect((await inside.sh('stat -c "%a %u:%g" /data; cat /data/seed; ls -d /var/lib/absent/deep')).stdout).toBe(
      '1770 7:8\nseed\n/var/lib/absent/deep\n',
    )
    await inside.writeFile('/data/x', 'written')
    await inside.writeFile('/var/lib/absent/deep/y', 'too')
    const { Mounts } = await bench.docker.getContainer(containerName(installation, spec)).inspect()
    expect(Mounts.map(({ Destination }) => Destination)).toEqual(['/opt/sandyard'])
    const snapshot = await runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })
    await runtime.remove(spec)
    const copy = sandboxSpec()
    const restored = new Inside(await runtime.createFrom(snapshot, copy))
    expect((await restored.sh('cat /data/seed /data/x /var/lib/absent/deep/y')).stdout).toBe('seed\nwrittentoo')
    await runtime.remove(copy)
    await runtime.deleteSnapshot(snapshot)
  }

  it('are part of the files of an image that a Dockerfile makes', async () => {
    const within = sandboxSpec()
    await runtime.create(within)
    const { image, env, user, workdir } = await runtime.images.buildDockerfile({ dockerfile: DOCKERFILE, within, force: true })
    expect({ greeting: env['GREETING'], user, workdir }).toEqual({ greeting: 'say "$hi" \\', user: '7:7', workdir: '/srv' })
    expect(await settingsOf(image)).toEqual({ ...(await settingsOf(foreign)), Volumes: {} })
    await checkFiles(image)
    const many = Array.from({ length: 101 }, (_, index) => `"/v${index}"`).join()
    await expect(
      runtime.images.buildDockerfile({ dockerfile: `FROM ${DEBIAN}\nVOLUME [${many}]`, within, force: true }),
    ).rejects.toMatchObject({ kind: 'failed_precondition', message: expect.stringMatching(/more than 100 volumes/) })
    await runtime.remove(within)
    await runtime.images.remove(image)
    expect(await nameless()).toEqual([])
    expect(await runtime.images.list()).toEqual([])
  })

  it("are part of the files of an image of the engine, which keeps the operator's image as it is", async () => {
    const { image } = await runtime.images.pull({ reference: foreign })
    expect(image).not.toBe(foreign)
    expect((await runtime.images.list()).map((one) => one.image)).toEqual([image])
    await checkFiles(image)
    await runtime.images.remove(image)
    expect(Object.keys((await settingsOf(foreign))['Volumes'] as object)).toEqual(expect.arrayContaining(['/data']))
    expect(await nameless()).toEqual([])
  })

  it('are part of the files of an image that an older version has brought in', async () => {
    const image = kept.newName()
    await tagImage(bench.docker, foreign, image)
    await checkFiles(image)
    await runtime.images.remove(image)
    expect(await nameless()).toEqual([])
  })

  it('are part of the files on an engine that does not accept settings without layers', async () => {
    const image = kept.newName()
    const refusing = Object.create(bench.docker, { loadImage: { value: () => Promise.reject(new Error('not here')) } }) as Docker
    const source = await bench.docker.getImage(foreign).inspect()
    await nameWithoutVolumes(refusing, { source, name: image, installation })
    expect((await bench.docker.getImage(image).inspect()).RootFS.Layers?.length).toBeLessThanOrEqual(2)
    await runtime.images.remove(image)
    expect((await bench.docker.getImage(foreign).inspect()).Id).toBe(source.Id)
    expect(await nameless()).toEqual([])
  })
})
