import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { copyTree } from '../root-file-system/run-program.ts'
import { withWorkFolder } from '../work/work-folder.ts'
import { completeReference } from './image-reference.ts'
import type { Image } from './image.ts'
import { unpackLayers } from './oci-layout.ts'

/** Images in a folder each, and their names in a file each. A folder appears and goes at once. */
export class ImageStore {
  readonly #directory: string
  readonly #images: string
  readonly #names: string

  constructor(directory: string) {
    this.#directory = directory
    this.#images = join(directory, 'images')
    this.#names = join(directory, 'names')
  }

  async find(reference: string): Promise<Image | undefined> {
    const id = /^sha256:[0-9a-f]{64}$/.test(reference) ? reference : await readText(this.#nameFile(reference))
    const text = id === undefined ? undefined : await readText(join(this.#folderOf(id), 'image.json'))
    return text === undefined ? undefined : (JSON.parse(text) as Image)
  }

  async get(reference: string): Promise<Image> {
    const image = await this.find(reference)
    if (image === undefined) throw new AppError('not_found', `No such image: ${reference}`)
    return image
  }

  /** Makes an image in a new folder: `fill` writes the root file system or the layers into it. */
  async add(fill: (folder: string) => Promise<Omit<Image, 'id' | 'createdAt'>>): Promise<Image> {
    return withWorkFolder(this.#directory, async (folder) => {
      const id = `sha256:${randomBytes(32).toString('hex')}`
      const image: Image = { ...(await fill(folder)), id, createdAt: new Date().toISOString() }
      await writeWhole(join(folder, 'image.json'), JSON.stringify(image))
      await mkdir(this.#images, { recursive: true, mode: 0o700 })
      await rename(folder, this.#folderOf(id))
      return image
    })
  }

  async findBuilt(key: string): Promise<Image | undefined> {
    const folders = await readdir(this.#images).catch(() => [])
    const images = await Promise.all(folders.map((folder) => this.find(`sha256:${folder}`)))
    return images.find((image) => image?.buildKey === key)
  }

  /** An image that loses its last name goes: containers have files of their own. */
  async name(reference: string, id: string): Promise<void> {
    await mkdir(this.#names, { recursive: true, mode: 0o700 })
    const former = await readText(this.#nameFile(reference))
    await writeWhole(this.#nameFile(reference), id)
    if (former === undefined || former === id) return
    const names = await readdir(this.#names)
    const named = await Promise.all(names.map((name) => readText(join(this.#names, name))))
    if (!named.includes(former)) await this.#remove(former)
  }

  async #remove(id: string): Promise<void> {
    await withWorkFolder(this.#directory, (folder) =>
      rename(this.#folderOf(id), join(folder, 'removed')).catch((err: NodeJS.ErrnoException) => {
        // Another process has removed it.
        if (err.code !== 'ENOENT') throw err
      }),
    )
  }

  /** Writes the root file system of the image into a folder. */
  async unpack({ id, kind }: Image, root: string): Promise<void> {
    await mkdir(root, { recursive: true, mode: 0o755 })
    if (kind === 'root') await copyTree(join(this.#folderOf(id), 'root'), root)
    else await unpackLayers(join(this.#folderOf(id), 'oci'), root)
  }

  #folderOf(id: string): string {
    return join(this.#images, id.replace(/^sha256:/, ''))
  }

  #nameFile(reference: string): string {
    return join(this.#names, encodeURIComponent(completeReference(reference)))
  }
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT') return undefined
    throw err
  })
}

/** Another process sees the old text or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const own = `${path}.${process.pid}.new`
  await writeFile(own, text, { mode: 0o600 })
  await rename(own, path)
}
