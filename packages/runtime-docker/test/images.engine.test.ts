import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { connectEngine } from '../src/engine/connect-engine.ts'
import { buildImage, ensureBaseImage } from '../src/images/base-image.ts'
import { contextHash, readContext } from '../src/images/build-context.ts'
import { DEBIAN_IMAGE, ensureDebianImage } from '../src/images/debian-image.ts'
import { imageExists } from '../src/images/image-exists.ts'
import { tryPull } from '../src/images/pull-image.ts'

const docker = await connectEngine(process.env['DOCKER_HOST'])
const image = `sandyard-test-images:${randomBytes(4).toString('hex')}`
const folder = mkdtempSync(join(tmpdir(), 'images-'))
const steps: string[] = []
const progress = { step: (line: string) => steps.push(line), detail: () => undefined }

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  if (await imageExists(docker, image)) await docker.getImage(image).remove({ force: true })
})

function contextOf(dockerfile: string): ReturnType<typeof readContext> {
  writeFileSync(join(folder, 'Dockerfile'), dockerfile)
  return readContext(pathToFileURL(`${folder}/`))
}

it('finds the images that the gate made, without building', async () => {
  await ensureDebianImage(docker, { progress })
  expect(await ensureBaseImage(docker, { progress })).toMatch(/^sandyard\/base:[0-9a-f]{12}$/)
  expect(steps).toEqual([])
})

it('builds with visible steps, and tags only what was built to its end', async () => {
  await ensureDebianImage(docker, { progress })
  const broken = await contextOf(`FROM ${DEBIAN_IMAGE}\nRUN echo one\nRUN exit 3\n`)
  await expect(buildImage(docker, { context: broken, image, progress })).rejects.toThrow(/could not be built \(.*exit 3.*3\)/)
  expect(await imageExists(docker, image)).toBe(false)
  const whole = await contextOf(`FROM ${DEBIAN_IMAGE}\nCOPY Dockerfile /copied\n`)
  expect(contextHash(whole)).not.toBe(contextHash(broken))
  await buildImage(docker, { context: whole, image, progress })
  expect(await imageExists(docker, image)).toBe(true)
  expect(steps.join('\n')).toMatch(/step 3\/\d: RUN exit 3/)
})

it('gives up soon on a registry that is not there', async () => {
  const reason = await tryPull(docker, '127.0.0.1:1/none:latest', { progress })
  expect(reason).toBe('its registry is not reached from here')
  const limits = { firstAnswerMs: 1, stallMs: 1 }
  expect(await tryPull(docker, '127.0.0.1:1/none:latest', { progress, limits })).toMatch(/did not answer in time|not reached/)
})
