import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { writeWhole } from '../images/image-store.ts'
import { withWorkFolder } from '../work/work-folder.ts'
import type { Container } from './container.ts'

/** Containers in a folder each, with their root file system. A folder appears and goes at once. */
export class ContainerStore {
  readonly #engineDirectory: string
  readonly #directory: string

  constructor(engineDirectory: string) {
    this.#engineDirectory = engineDirectory
    this.#directory = join(engineDirectory, 'containers')
  }

  rootOf(id: string): string {
    return join(this.#directory, id, 'root')
  }

  logOf(id: string): string {
    return join(this.#directory, id, 'output.log')
  }

  async list(): Promise<Container[]> {
    const ids = await readdir(this.#directory).catch(() => [])
    const found = await Promise.all(ids.map((id) => this.#read(id)))
    return found.filter((one) => one !== undefined).sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  }

  /** By id, a start of it of 12 digits or more, or name. */
  async get(reference: string): Promise<Container> {
    const found = (await this.list()).find(
      ({ id, name }) => id === reference || name === reference || (reference.length >= 12 && id.startsWith(reference)),
    )
    if (found === undefined) throw new AppError('not_found', `No such container: ${reference}`)
    return found
  }

  /** Makes a container: `fill` writes its root file system into the folder `root`. */
  async add(fill: (root: string) => Promise<Container>): Promise<Container> {
    return withWorkFolder(this.#engineDirectory, async (folder) => {
      const container = await fill(join(folder, 'root'))
      await writeWhole(join(folder, 'container.json'), JSON.stringify(container))
      await mkdir(this.#directory, { recursive: true, mode: 0o700 })
      await rename(folder, join(this.#directory, container.id))
      return container
    })
  }

  async save(container: Container): Promise<void> {
    await writeWhole(join(this.#directory, container.id, 'container.json'), JSON.stringify(container))
  }

  async remove(id: string): Promise<void> {
    await withWorkFolder(this.#engineDirectory, (folder) => rename(join(this.#directory, id), join(folder, 'removed')))
  }

  async #read(id: string): Promise<Container | undefined> {
    const text = await readFile(join(this.#directory, id, 'container.json'), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as Container)
  }
}
