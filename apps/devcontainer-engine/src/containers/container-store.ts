import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { writeWhole } from '../images/image-store.ts'
import type { Container } from './container.ts'

/** Containers in a folder each, with their root file system. */
export class ContainerStore {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = join(directory, 'containers')
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

  async makeFolder(id: string): Promise<void> {
    await mkdir(this.rootOf(id), { recursive: true, mode: 0o755 })
  }

  async save(container: Container): Promise<void> {
    await writeWhole(join(this.#directory, container.id, 'container.json'), JSON.stringify(container))
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#directory, id), { recursive: true, force: true })
  }

  async #read(id: string): Promise<Container | undefined> {
    const text = await readFile(join(this.#directory, id, 'container.json'), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as Container)
  }
}
