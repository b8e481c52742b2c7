import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type Docker from 'dockerode'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomId } from '../../packages/kit/src/ids/ids.ts'
import { connectEngine } from '../../packages/runtime-docker/src/engine/connect-engine.ts'
import { unlessStatus } from '../../packages/runtime-docker/src/engine/docker-errors.ts'
import { tagImage } from '../../packages/runtime-docker/src/images/kept-images.ts'
import { readHostAuthorities } from './host-authorities.ts'
import { listImages } from './list-images.ts'
import { makeImages } from './make-images.ts'
import { removeImages } from './remove-images.ts'
import type { StandIn } from './stand-in.ts'
import { STAND_INS } from './stand-ins.ts'

const DEBIAN = 'debian:bookworm-slim'
const node = STAND_INS.find(({ image }) => image.startsWith('node:')) as StandIn

let docker: Docker
let folder: string
/** An image of no registry, whose only layer is a file. */
let tiny: StandIn
const steps: string[] = []
const progress = { step: (line: string) => void steps.push(line), detail: () => undefined }

beforeAll(async () => {
  docker = await connectEngine(process.env['DOCKER_HOST'])
  folder = await mkdtemp(join(tmpdir(), 'sandyard-test-stand-in-'))
  await writeFile(join(folder, 'Dockerfile'), `FROM ${DEBIAN}\nCOPY Dockerfile /made-of\n`)
  const image = `localhost:1/sandyard-test-${randomId(8)}:1`
  tiny = { image, madeOf: 'a file', recipe: { folder: pathToFileURL(`${folder}/`) } }
})

afterAll(async () => {
  await unlessStatus(404, () => docker.getImage(tiny.image).remove({ force: true }))
  await rm(folder, { recursive: true, force: true })
})

async function make(standIn: StandIn): Promise<string[]> {
  steps.length = 0
  await makeImages(docker, { standIns: [standIn], authorities: await readHostAuthorities(), progress })
  return [...steps]
}

const list = async (): Promise<string> => listImages(docker, { standIns: [tiny], authorities: await readHostAuthorities() })
const remove = async (): Promise<void> => removeImages(docker, { standIns: [tiny], authorities: undefined, progress })
const idOf = async (image: string): Promise<string | undefined> => (await unlessStatus(404, () => docker.getImage(image).inspect()))?.Id

it('makes an image once, makes it again when its recipe changes, and removes it', async () => {
  expect(await list()).toContain('missing')
  expect(await make(tiny)).toContainEqual(expect.stringMatching(/^making localhost.*: [\d.]+ s$/))
  expect(await list()).toMatch(/:1 {2}stand-in {2}a file/)
  expect(await make(tiny)).toEqual([`${tiny.image}: a stand-in is there`])

  const former = (await idOf(tiny.image)) as string
  await writeFile(join(folder, 'Dockerfile'), `FROM ${DEBIAN}\nCOPY Dockerfile /made-of-something-else\n`)
  expect(await list()).toContain('to be made again')
  await make(tiny)
  expect(await idOf(tiny.image)).not.toBe(former)
  expect(await idOf(former)).toBeUndefined()

  await remove()
  expect(await idOf(tiny.image)).toBeUndefined()
})

it('neither replaces nor removes an image that is not a stand-in', async () => {
  await tagImage(docker, DEBIAN, tiny.image)
  const theirs = await idOf(tiny.image)
  expect(await list()).toContain('there, not a stand-in')
  expect(await make(tiny)).toEqual([`${tiny.image}: is there, and is not a stand-in`])
  await remove()
  expect(await idOf(tiny.image)).toBe(theirs)
})

it('has an image for Node that runs without rights and without a writable file system', async () => {
  await make(node)
  const outcome = await run(node.image, ['-e', 'process.stdout.write(`${process.version} ${process.getuid()}`)'])
  expect(outcome).toBe('v24.21.0 1000')
  expect(await run(node.image, ['npm', '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/)
}, 600_000)

/** The output of a command as user `node`. */
async function run(image: string, command: string[]): Promise<string> {
  const HostConfig = { ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], NetworkMode: 'none' }
  const container = await docker.createContainer({ Image: image, Cmd: command, User: 'node', Tty: true, HostConfig })
  try {
    await container.start()
    await container.wait()
    // A terminal, so that the engine does not mark the two outputs.
    return String(await container.logs({ stdout: true, stderr: true })).replaceAll('\r', '')
  } finally {
    await container.remove({ force: true })
  }
}
