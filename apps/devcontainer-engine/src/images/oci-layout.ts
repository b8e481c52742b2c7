import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { unpackLayer, UnpackBudget } from '../root-file-system/unpack-layer.ts'
import type { Image, ImageConfig } from './image.ts'

const MAX_UNPACKED_BYTES = 64 * 1024 ** 3
const MAX_LAYERS = 256
const MAX_JSON_BYTES = 16 * 1024 ** 2

interface Descriptor {
  readonly digest: string
  readonly mediaType: string
}

interface Manifest {
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}

export async function readImageConfig(layout: string): Promise<Omit<Image, 'id' | 'createdAt'>> {
  const { config } = await readManifest(layout)
  const read = await readJson<{ config?: ImageConfig; os?: string; architecture?: string }>(blobOf(layout, config.digest))
  return { config: read.config ?? {}, os: read.os ?? 'linux', architecture: read.architecture ?? '', kind: 'layers' }
}

export async function unpackLayers(layout: string, root: string): Promise<void> {
  const { layers } = await readManifest(layout)
  if (layers.length > MAX_LAYERS) throw new AppError('resource_exhausted', `The image has more than ${MAX_LAYERS} layers`)
  const budget = new UnpackBudget(MAX_UNPACKED_BYTES)
  for (const { digest, mediaType } of layers) await unpackLayer(blobOf(layout, digest), mediaType, { root, budget })
}

async function readManifest(layout: string): Promise<Manifest> {
  const { manifests } = await readJson<{ manifests: readonly Descriptor[] }>(join(layout, 'index.json'))
  const [first] = manifests
  if (first === undefined) throw new AppError('internal', 'The image has no manifest')
  return readJson<Manifest>(blobOf(layout, first.digest))
}

function blobOf(layout: string, digest: string): string {
  const [, algorithm, hex] = /^(sha256|sha512):([0-9a-f]+)$/.exec(digest) ?? []
  if (algorithm === undefined || hex === undefined) throw new AppError('internal', `The image has an unknown digest: ${digest}`)
  return join(layout, 'blobs', algorithm, hex)
}

async function readJson<T>(path: string): Promise<T> {
  const { size } = await stat(path)
  if (size > MAX_JSON_BYTES)
    throw new AppError('resource_exhausted', `The description of the image is larger than ${MAX_JSON_BYTES / 1024 ** 2} MiB`)
  return JSON.parse(await readFile(path, 'utf8')) as T
}
