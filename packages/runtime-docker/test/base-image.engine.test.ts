import { expect, it } from 'vitest'
import { connectEngine } from '../src/engine/connect-engine.ts'
import { ensureBaseImage } from '../src/images/base-image.ts'

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
