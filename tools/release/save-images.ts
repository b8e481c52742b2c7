import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { DockerEngineArchive } from '@sandyard/runtime-docker/archive/docker-engine-archive'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { ReleaseFailure } from './release-failure.ts'

export interface SavedImages {
  readonly file: string
  readonly images: readonly { readonly name: string; readonly id: string }[]
}

/** The services that Compose builds from this repository. */
const SERVICES = ['api', 'proxy', 'egress']

/** Saves the images that Compose starts, layers that they share once; `docker load` reads the file. @throws ReleaseFailure when one was not built */
export async function saveImages(version: string, folder: string): Promise<SavedImages> {
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const archive = new DockerEngineArchive(docker, 'release')
  const names = SERVICES.map((service) => `sandyard/${service}:${version}`)
  for (const name of names) {
    if (!(await archive.imageExists(name))) throw new ReleaseFailure(`The engine has no image ${name}: run \`docker compose build\` first.`)
  }
  const images = await Promise.all(names.map(async (name) => ({ name, id: (await docker.getImage(name).inspect()).Id })))
  const { Architecture: architecture } = await docker.getImage(names[0] ?? '').inspect()
  const file = `sandyard-images-${version}-linux-${architecture}.tar.gz`
  await pipeline(await archive.save(names), createGzip({ level: 1 }), createWriteStream(join(folder, file)))
  return { file, images }
}
