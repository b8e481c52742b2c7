import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { flag, parseOptions, parsePairs, value, type ParsedOptions } from '../command-line/parse-options.ts'
import { followMain } from '../containers/follow-main.ts'
import type { Container, Mount } from '../containers/container.ts'
import { parseMount, parseVolume, type MountRequest } from '../containers/parse-mount.ts'
import { startContainer } from '../containers/start-container.ts'
import type { Engine } from '../engine.ts'
import { environmentOf, toPairs, type Image } from '../images/image.ts'
import { ensureImage } from '../images/pull-image.ts'
import { resolveInRoot } from '../root-file-system/resolve-in-root.ts'
import { copyTree } from '../root-file-system/run-program.ts'
import { withLock } from '../work/lock.ts'
import { withWorkFolder } from '../work/work-folder.ts'
import { requireHostNetwork } from './build.ts'

const COMMAND = 'docker run'

const OPTIONS = {
  detach: flag('-d', '--detach'),
  sigProxy: flag('--sig-proxy'),
  attach: value('-a', '--attach'),
  label: value('-l', '--label'),
  env: value('-e', '--env'),
  envFile: value('--env-file'),
  user: value('-u', '--user'),
  workdir: value('-w', '--workdir'),
  entrypoint: value('--entrypoint'),
  mount: value('--mount'),
  volume: value('-v', '--volume'),
  name: value('--name'),
  network: value('--network', '--net'),
  publish: value('-p', '--publish'),
  // The first process of the sandbox takes orphans over.
  init: flag('--init'),
}

export async function run(engine: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: COMMAND, options: OPTIONS, stopsAtWord: true }, args)
  const [reference, ...words] = options.words
  if (reference === undefined) throw new AppError('invalid_argument', `${COMMAND} needs an image`)
  requireHostNetwork(COMMAND, options.last('network'))
  for (const port of options.all('publish')) requireSamePort(port)
  const requests = [...options.all('mount').map(parseMount), ...options.all('volume').map(parseVolume)]
  const image = await ensureImage(engine.images, reference)
  const container = await create(engine, { options, image, reference, words, requests })
  const child = await startContainer(engine, container.id)
  if (options.has('detach')) {
    child?.unref()
    engine.print(container.id)
  } else if (child !== undefined) await followMain({ child, log: engine.containers.logOf(container.id) })
}

interface Creation {
  readonly options: ParsedOptions
  readonly image: Image
  readonly reference: string
  readonly words: readonly string[]
  readonly requests: readonly MountRequest[]
}

async function create({ images, containers, config, environment }: Engine, creation: Creation): Promise<Container> {
  const { options, image, reference, words, requests } = creation
  const id = randomBytes(32).toString('hex')
  const name = options.last('name') ?? `devcontainer-${id.slice(0, 12)}`
  if ((await containers.list()).some((one) => one.name === name))
    throw new AppError('already_exists', `The name ${name} is taken by another dev container`)
  const entrypoint = options.last('entrypoint')
  const pairs = [...(await readEnvFiles(options.all('envFile'))), ...options.all('env')]
  return containers.add(async (root) => {
    await images.unpack(image, root)
    // One after the other, because they may have folders in common.
    const mounts: Mount[] = []
    for (const request of requests) mounts.push(await mountAt(request, { root, directory: config.directory }))
    const workingDirectory = (options.last('workdir') ?? image.config.WorkingDir) || '/'
    await mkdir(await resolveInRoot(root, workingDirectory, { makeParents: true }), { recursive: true })
    return {
      id,
      name,
      createdAt: new Date().toISOString(),
      image: reference,
      imageId: image.id,
      config: {
        ...image.config,
        User: options.last('user') ?? image.config.User ?? '',
        WorkingDir: workingDirectory,
        Env: toPairs({ ...environmentOf(image.config), ...parsePairs(COMMAND, pairs, environment) }),
        Labels: { ...image.config.Labels, ...parsePairs(COMMAND, options.all('label')) },
        Entrypoint: entrypoint === undefined ? (image.config.Entrypoint ?? null) : entrypoint === '' ? null : [entrypoint],
        Cmd: words.length > 0 ? words : entrypoint === undefined ? (image.config.Cmd ?? null) : null,
      },
      mounts,
    }
  })
}

/** A variable in a line, as `-e` takes it. */
async function readEnvFiles(files: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(
    files.map((file) =>
      readFile(file, 'utf8').catch((cause: unknown) => {
        throw new AppError('not_found', `${COMMAND}: the file ${file} cannot be read`, { cause })
      }),
    ),
  )
  const lines = texts.flatMap((text) => text.split(/\r?\n/)).map((line) => line.trimStart())
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}

async function mountAt({ type, source, target }: MountRequest, { root, directory }: { root: string; directory: string }): Promise<Mount> {
  if (type === 'bind') {
    const stats = await stat(source).catch(() => undefined)
    if (stats === undefined) throw new AppError('not_found', `${COMMAND}: there is no ${source} to mount`)
    if (stats.isDirectory()) await mkdir(await resolveInRoot(root, target, { makeParents: true }), { recursive: true })
    return { type, source, target }
  }
  const volume = join(directory, 'volumes', source)
  await mkdir(volume, { recursive: true, mode: 0o755 })
  const place = await resolveInRoot(root, target, { makeParents: true })
  await mkdir(place, { recursive: true })
  await withLock(`volume ${source}`, async () => fillVolume({ volume, place, directory }))
  return { type, source: volume, target, name: source }
}

/** An empty volume gets what the image has at its place, all of it or nothing. */
async function fillVolume({ volume, place, directory }: { volume: string; place: string; directory: string }): Promise<void> {
  if ((await readdir(volume)).length > 0) return
  await withWorkFolder(directory, async (folder) => {
    const content = join(folder, 'content')
    await mkdir(content)
    await copyTree(place, content)
    await rename(content, volume)
  })
}

/** The port of a process in a dev container is a port of the sandbox. */
function requireSamePort(text: string): void {
  const parts = text.replace(/\/tcp$/, '').split(':')
  const inside = parts.at(-1)
  const outside = parts.length > 1 ? parts.at(-2) : inside
  if (inside === undefined || !/^\d+(-\d+)?$/.test(inside) || inside !== outside)
    throw new AppError('unimplemented', `${COMMAND}: a port of a dev container is the same port of its sandbox: -p ${text} is not possible`)
}
