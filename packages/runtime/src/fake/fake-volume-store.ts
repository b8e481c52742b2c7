import type { Secret } from '@sandyard/kit/config/secret'
import type { SandboxMount } from '../types.ts'
import type { VolumeEndpoint, VolumeStore } from '../volume-store.ts'
import type { FakeEngine } from './fake-engine.ts'
import type { FaultPoint } from './faults.ts'

interface FakeVolumeStoreParts {
  readonly engine: FakeEngine
  readonly installation: string
  readonly call: <T>(point: FaultPoint, work: () => T | Promise<T>, signal?: AbortSignal) => Promise<T>
}

/** The volume store of a fake runtime. A sandbox in any state uses the volumes of its spec. */
export class FakeVolumeStore implements VolumeStore {
  readonly #parts: FakeVolumeStoreParts

  constructor(parts: FakeVolumeStoreParts) {
    this.#parts = parts
  }

  create(name: string, signal?: AbortSignal): Promise<void> {
    const { engine, call } = this.#parts
    return call('volumes.create', () => engine.volumes.create(this.#keyOf(name)), signal)
  }

  remove(name: string, signal?: AbortSignal): Promise<boolean> {
    const { engine, installation, call } = this.#parts
    return call(
      'volumes.remove',
      async () => {
        const own = [...engine.sandboxes.values()].filter((sandbox) => sandbox.installation === installation)
        const isUsed = own.some(({ spec }) => spec.mounts.some(({ volume }) => volume === name))
        if (!isUsed) await engine.volumes.remove(this.#keyOf(name))
        return !isUsed
      },
      signal,
    )
  }

  open(name: string, key: Secret, signal?: AbortSignal): Promise<VolumeEndpoint> {
    const { engine, call } = this.#parts
    return call('volumes.open', () => engine.volumes.open(this.#keyOf(name), key), signal)
  }

  sizes(signal?: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { engine, call } = this.#parts
    const sized = async (name: string) => [name, await engine.volumes.sizeOf(this.#keyOf(name))] as const
    const counted = () => this.#names().filter((name) => !engine.volumes.uncounted.has(this.#keyOf(name)))
    return call('volumes.sizes', async () => new Map(await Promise.all(counted().map(sized))), signal)
  }

  sizeOf(name: string, _timeoutMs: number, signal?: AbortSignal): Promise<number> {
    const { engine, call } = this.#parts
    return call('volumes.sizeOf', () => engine.volumes.sizeOf(this.#keyOf(name)), signal)
  }

  list(signal?: AbortSignal): Promise<readonly string[]> {
    return this.#parts.call('volumes.list', () => this.#names(), signal)
  }

  /** @throws AppError `not_found` when one of them does not exist */
  require(mounts: readonly SandboxMount[]): void {
    for (const { volume } of mounts) this.#parts.engine.volumes.pathOf(this.#keyOf(volume))
  }

  #names(): string[] {
    const { engine, installation } = this.#parts
    return engine.volumes.names.flatMap((key) => (key.startsWith(`${installation}/`) ? [key.slice(installation.length + 1)] : []))
  }

  #keyOf(name: string): string {
    return `${this.#parts.installation}/${name}`
  }
}
