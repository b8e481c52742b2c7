import { expect, it } from 'vitest'
import { connectEngine } from '../src/engine/connect-engine.ts'
import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { DIRECT } from '@sandyard/kit/outbound/outbound'
import { buildImage, ensureBaseImage } from '../src/images/base-image.ts'
import { packContext } from '../src/images/build-context.ts'
import { DEBIAN } from './support/engine-bench.ts'

/** The expected size with a margin. Debian's npm with its packages took 130 MB more. */
const MAX_SIZE_BYTES = 700_000_000

it('builds a base image of bounded size, once', async () => {
  // oxlint-disable-next-line node/no-process-env -- selects the engine under test
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const lines: string[] = []
  const progress = { step: (line: string) => void lines.push(line), detail: () => undefined }
  const image = await ensureBaseImage(docker, { progress })
  expect((await docker.getImage(image).inspect()).Size).toBeLessThan(MAX_SIZE_BYTES)
  lines.length = 0
  expect(await ensureBaseImage(docker, { progress })).toBe(image)
  expect(lines).toEqual([])
}, 600_000)

it('gives the proxy to the steps of our own images, and stores nothing of it', async () => {
  // oxlint-disable-next-line node/no-process-env -- selects the engine under test
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const url = 'http://me:hush@10.0.0.5:3128'
  const outbound = { ...DIRECT, httpProxy: { url: new Secret(url), host: '10.0.0.5', port: 3128 } }
  const dockerfile = `FROM ${DEBIAN}\nRUN echo ${randomId(8)} && test "$(echo -n $http_proxy | sha256sum)" = "$(echo -n $HTTPS_PROXY | sha256sum)" && test \${#http_proxy} = ${url.length}\n`
  const image = `sandyard/test-proxy:${randomId(8)}`
  const context = packContext([{ name: 'Dockerfile', bytes: Buffer.from(dockerfile) }])
  await buildImage(docker, { context, image, progress: { step: () => undefined, detail: () => undefined }, outbound })
  const built = docker.getImage(image)
  try {
    expect(JSON.stringify([await built.inspect(), await built.history()])).not.toContain('hush')
  } finally {
    await built.remove()
  }
}, 120_000)
