import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type Docker from 'dockerode'
import { AppError } from '../../packages/kit/src/errors/app-error.ts'
import { buildImage } from '../../packages/runtime-docker/src/images/base-image.ts'
import { readContext, type ContextFile } from '../../packages/runtime-docker/src/images/build-context.ts'
import type { ImageProgress } from '../../packages/runtime-docker/src/images/image-progress.ts'
import { tarFolders, type TarSource } from '../../packages/runtime-docker/src/images/tar-folders.ts'
import { AUTHORITY_INSTRUCTIONS, authorityFiles } from './authority-files.ts'
import type { HostAuthorities } from './host-authorities.ts'
import { sourcesHash } from './sources-hash.ts'
import { SOURCES_LABEL, STAND_IN_LABEL, type Recipe, type StandIn } from './stand-in.ts'

export interface StandInBuild {
  readonly authorities: HostAuthorities | undefined
  readonly progress: ImageProgress
}

/** All files of an image belong to root, and everybody reads them, whatever this process's umask is. */
const OWNERS_AND_MODES = ['--owner=0', '--group=0', '--mode=u+rwX,go+rX,go-w']

/**
 * Builds a stand-in on `debian:bookworm-slim`, which the engine must have, and names it when it is complete.
 *
 * @throws AppError `failed_precondition` that says what to do
 */
export async function buildStandIn(docker: Docker, standIn: StandIn & { readonly recipe: Recipe }, build: StandInBuild): Promise<void> {
  const { image, recipe } = standIn
  const { authorities, progress } = build
  await using fetched = await recipe.fetch?.((line) => progress.detail(line))
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-stand-in-'))
  try {
    const labels = `LABEL ${STAND_IN_LABEL}="${image}" ${SOURCES_LABEL}="${await sourcesHash(standIn, authorities)}"\n`
    const files = (await readContext(recipe.folder)).map((file) =>
      file.name === 'Dockerfile' ? { ...file, bytes: Buffer.from(dockerfile(String(file.bytes), labels, authorities)) } : file,
    )
    await writeFiles(folder, [...files, ...(authorities === undefined ? [] : authorityFiles(authorities))])
    await buildFrom(docker, { image, progress, sources: [{ folder, names: ['.'] }, ...(fetched?.sources ?? [])] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function dockerfile(text: string, labels: string, authorities: HostAuthorities | undefined): string {
  return `${text.trimEnd()}\n${authorities === undefined ? '' : AUTHORITY_INSTRUCTIONS}${labels}`
}

async function writeFiles(folder: string, files: readonly ContextFile[]): Promise<void> {
  for (const { name, bytes } of files) {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes, { mode: name.endsWith('.sh') ? 0o755 : 0o644 })
  }
}

interface ContextOptions {
  readonly image: string
  readonly sources: readonly TarSource[]
  readonly progress: ImageProgress
}

async function buildFrom(docker: Docker, { image, sources, progress }: ContextOptions): Promise<void> {
  const archive = tarFolders(sources, OWNERS_AND_MODES)
  await buildImage(docker, { context: archive.stream, image, progress })
  const failure = await archive.failure
  if (failure === undefined) return
  // The engine does not notice that a file is missing in the archive.
  await docker.getImage(image).remove({ force: true })
  throw new AppError('failed_precondition', `The files of ${image} could not be read (${failure}): run this again.`)
}
