import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { VolumeEndpoint } from '../volume-store.ts'
import { startFakeFileService } from './fake-file-service.ts'

interface Service {
  readonly key: string
  readonly server: Server
}

/**
 * The volumes of a fake engine: folders of a temporary directory, under `<installation>/<name>`. They outlive its runtimes; disposing removes them.
 */
export class FakeVolumes implements AsyncDisposable {
  /** Those that `sizes` leaves out. */
  readonly uncounted = new Set<string>()
  readonly #services = new Map<string, Promise<Service>>()
  readonly #paths = new Map<string, string>()
  #root: Promise<string> | undefined

  get names(): readonly string[] {
    return [...this.#paths.keys()]
  }

  has(name: string): boolean {
    return this.#paths.has(name)
  }

  /** The folder of a volume. @throws AppError `not_found` */
  pathOf(name: string): string {
    const path = this.#paths.get(name)
    if (path === undefined) throw new AppError('not_found', `Volume "${name}" does not exist.`)
    return path
  }

  async create(name: string): Promise<void> {
    this.#root ??= mkdtemp(join(tmpdir(), 'sandyard-fake-volumes-'))
    const path = join(await this.#root, name)
    await mkdir(path, { recursive: true })
    this.#paths.set(name, path)
  }

  async remove(name: string): Promise<void> {
    await this.stopService(name)
    const path = this.#paths.get(name)
    this.#paths.delete(name)
    if (path !== undefined) await rm(path, { recursive: true, force: true })
  }

  /** A service with another key replaces the running one. */
  async open(name: string, key: Secret): Promise<VolumeEndpoint> {
    const path = this.pathOf(name)
    const running = await this.#services.get(name)
    if (running !== undefined && running.key !== key.reveal()) await this.stopService(name)
    const starting = this.#services.get(name) ?? start(path, key)
    this.#services.set(name, starting)
    const address = (await starting).server.address()
    if (address === null || typeof address === 'string') throw new Error('the file service does not listen')
    return { host: '127.0.0.1', port: address.port }
  }

  async sizeOf(name: string): Promise<number> {
    const path = this.pathOf(name)
    const entries = await readdir(path, { recursive: true })
    const sizes = await Promise.all(entries.map(async (entry) => (await stat(join(path, entry))).size))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  /** Ends the file service of a volume, as after a while without requests. */
  async stopService(name: string): Promise<void> {
    const service = await this.#services.get(name)
    this.#services.delete(name)
    service?.server.closeAllConnections()
    await new Promise<void>((resolve) => (service === undefined ? resolve() : service.server.close(() => resolve())))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#services.keys()) await this.stopService(name)
    if (this.#root !== undefined) await rm(await this.#root, { recursive: true, force: true })
  }
}

async function start(path: string, key: Secret): Promise<Service> {
  return { key: key.reveal(), server: await startFakeFileService(path, key) }
}
