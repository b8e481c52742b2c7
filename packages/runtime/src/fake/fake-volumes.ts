import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Secret } from '@sandyard/kit/config/secret'
import type { VolumeEndpoint, VolumeStore } from '../volume-store.ts'
import type { FakeEngine } from './fake-engine.ts'
import { startFakeFileService } from './fake-file-service.ts'
import type { FaultPoint } from './faults.ts'

/** The volumes of a fake engine: folders of a temporary directory. They outlive its runtimes. */
export class FakeVolumes implements AsyncDisposable {
  readonly #servers = new Map<string, Promise<Server>>()
  readonly #paths = new Map<string, string>()
  #root: Promise<string> | undefined

  get names(): readonly string[] {
    return [...this.#paths.keys()]
  }

  /** The folder of a volume; undefined when it does not exist. */
  pathOf(name: string): string | undefined {
    return this.#paths.get(name)
  }

  async create(name: string): Promise<string> {
    this.#root ??= mkdtemp(join(tmpdir(), 'sandyard-fake-volumes-'))
    const path = join(await this.#root, name)
    await mkdir(path, { recursive: true })
    this.#paths.set(name, path)
    return path
  }

  async remove(name: string): Promise<void> {
    await this.stopService(name)
    const path = this.#paths.get(name)
    this.#paths.delete(name)
    if (path !== undefined) await rm(path, { recursive: true, force: true })
  }

  async open(name: string, key: Secret): Promise<VolumeEndpoint> {
    const path = await this.create(name)
    const starting = this.#servers.get(name) ?? startFakeFileService(path, key)
    this.#servers.set(name, starting)
    const address = (await starting).address()
    if (address === null || typeof address === 'string') throw new Error('the file service does not listen')
    return { host: '127.0.0.1', port: address.port }
  }

  /** Ends the file service of a volume, as after a while without requests. */
  async stopService(name: string): Promise<void> {
    const server = await this.#servers.get(name)
    this.#servers.delete(name)
    server?.closeAllConnections()
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#servers.keys()) await this.stopService(name)
    if (this.#root !== undefined) await rm(await this.#root, { recursive: true, force: true })
  }
}

type Call = <T>(point: FaultPoint, work: () => T | Promise<T>, signal?: AbortSignal) => Promise<T>

/** The volume store of a fake runtime. A sandbox in any state uses the volumes of its spec. */
export class FakeVolumeStore implements VolumeStore {
  readonly #engine: FakeEngine
  readonly #call: Call

  constructor(engine: FakeEngine, call: Call) {
    this.#engine = engine
    this.#call = call
  }

  create(name: string, signal?: AbortSignal): Promise<void> {
    return this.#call('volumes.create', async () => void (await this.#engine.volumes.create(name)), signal)
  }

  remove(name: string, signal?: AbortSignal): Promise<boolean> {
    return this.#call(
      'volumes.remove',
      async () => {
        const isUsed = [...this.#engine.sandboxes.values()].some(({ spec }) => spec.mounts.some(({ volume }) => volume === name))
        if (!isUsed) await this.#engine.volumes.remove(name)
        return !isUsed
      },
      signal,
    )
  }

  open(name: string, key: Secret, signal?: AbortSignal): Promise<VolumeEndpoint> {
    return this.#call('volumes.open', () => this.#engine.volumes.open(name, key), signal)
  }

  sizes(signal?: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#call('volumes.sizes', () => new Map(this.#engine.volumes.names.map((name) => [name, 0])), signal)
  }

  list(signal?: AbortSignal): Promise<readonly string[]> {
    return this.#call('volumes.list', () => this.#engine.volumes.names, signal)
  }
}
