import { get } from 'node:http'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { VolumeEndpoint, VolumeStore } from '@sandyard/runtime/volume-store'
import type { Container } from 'dockerode'
import { removeContainer } from '../containers/remove-container.ts'
import type { StartRequest } from '../containers/start-sandbox.ts'
import { CLOSED_EGRESS } from '../egress/closed-egress.ts'
import { engineCall, statusOf, toAppError, unlessStatus } from '../engine/docker-errors.ts'
import { KeyedQueue } from '../engine/keyed-queue.ts'
import { volumeNames } from '../labels.ts'
import type { RuntimeParts } from '../runtime-parts.ts'
import { listVolumes } from './list-volumes.ts'
import { prepareVolume } from './prepare-volume.ts'
import { runVolumeTool } from './run-volume-tool.ts'
import { placeAbove, type DriverConfig } from './volume-driver.ts'
import { readVolumeSizes } from './volume-sizes.ts'
import {
  volumeMeasureSpec,
  volumeRemovalSpec,
  volumeServerCommand,
  volumeServerSpec,
  type VolumeServerRequest,
} from './volume-server-spec.ts'

/** A service may end itself in the moment in which it is found. */
const ATTEMPTS = 3
const START_TIMEOUT_MS = 30_000
const LOOK_EVERY_MS = 20
/** Of a directory. What is left is removed by the next call. */
const REMOVAL_TIMEOUT_MS = 600_000
const ANSWER_TIMEOUT_MS = 5000
/** As the service reads it (apps/daemon/src/volume-server). */
const KEY_HEADER = 'x-sandyard-volume-key'

export interface VolumeStoreParts extends Pick<
  RuntimeParts,
  'docker' | 'installation' | 'network' | 'plan' | 'daemonPort' | 'volumeDriver'
> {
  /** `DaemonManifest.volumeServer`. */
  readonly command: readonly string[]
  /** Starts a container, or finds the running one, and returns its address. */
  readonly start: (request: StartRequest) => Promise<string>
}

/**
 * Volumes as named volumes of the engine. The files are served by a container for each volume in use, with closed egress, which ends itself
 * when it is idle: a killed server leaves nothing that stays.
 */
export class DockerVolumeStore implements VolumeStore {
  readonly #parts: VolumeStoreParts
  readonly #changes = new KeyedQueue()

  constructor(parts: VolumeStoreParts) {
    this.#parts = parts
  }

  create(name: string, signal?: AbortSignal): Promise<void> {
    const { docker, installation, volumeDriver: driver } = this.#parts
    return this.#change(name, signal, () =>
      engineCall('The volume could not be made.', () => prepareVolume(docker, installation, name, driver)),
    )
  }

  remove(name: string, signal?: AbortSignal): Promise<boolean> {
    const { docker, installation, network } = this.#parts
    const { volume, door, server } = volumeNames(installation, name)
    return this.#change(name, signal, () =>
      engineCall('The volume could not be removed.', async () => {
        await network.disconnect(server)
        for (const container of [server, door]) await removeContainer(docker, container)
        const place = await this.#findPlace(volume)
        try {
          await unlessStatus(404, () => docker.getVolume(volume).remove())
        } catch (err) {
          if (statusOf(err) === 409) return false
          throw err
        }
        if (place !== undefined) await this.#removePlace(name, place, signal)
        return true
      }),
    )
  }

  /** @throws AppError `not_found` without the volume, `unavailable` when the service does not start; the abort reason */
  open(name: string, key: Secret, signal?: AbortSignal): Promise<VolumeEndpoint> {
    const { command, daemonPort: port } = this.#parts
    return this.#change(name, signal, async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#serve({ name, key, command, port }, signal)
        } catch (err) {
          if (signal?.aborted && err === signal.reason) throw err
          const failure = toAppError(err, 'The file service of the volume could not be started.')
          if (attempt === ATTEMPTS || failure.kind === 'not_found') throw failure
        }
      }
    })
  }

  sizes(signal?: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { docker, installation } = this.#parts
    return engineCall('The volumes could not be measured.', () => readVolumeSizes(docker, installation, signal))
  }

  async sizeOf(name: string, timeoutMs: number, signal?: AbortSignal): Promise<number> {
    const { docker, command, plan } = this.#parts
    await this.require([name])
    const options = volumeMeasureSpec(plan(), { name, command, timeoutMs })
    return engineCall('The volume could not be measured.', async () => {
      const [, bytes] = await runVolumeTool(docker, /^bytes=(\d{1,16})\r?$/m, { options, timeoutMs, signal })
      return Number(bytes)
    })
  }

  list(signal?: AbortSignal): Promise<readonly string[]> {
    return listVolumes(this.#parts.docker, this.#parts.installation, signal)
  }

  /**
   * The engine makes a missing volume for a container silently.
   *
   * @throws AppError `not_found`
   */
  async require(names: readonly string[]): Promise<void> {
    for (const name of new Set(names)) {
      const { volume } = volumeNames(this.#parts.installation, name)
      const found = await engineCall('The volume could not be looked up.', () =>
        unlessStatus(404, () => this.#parts.docker.getVolume(volume).inspect()),
      )
      if (found === undefined) throw new AppError('not_found', `Volume "${name}" does not exist.`)
    }
  }

  async #serve(request: VolumeServerRequest, signal: AbortSignal | undefined): Promise<VolumeEndpoint> {
    const { docker, installation, plan, start } = this.#parts
    await this.require([request.name])
    const { server } = volumeNames(installation, request.name)
    const container = docker.getContainer(server)
    if (!(await isServing(container, request))) await this.#removeServer(server)
    const host = await start({ name: server, options: volumeServerSpec(plan(), request), policy: CLOSED_EGRESS, signal })
    const endpoint = { host, port: request.port }
    const options = { what: 'the file service of the volume', timeoutMs: START_TIMEOUT_MS, everyMs: LOOK_EVERY_MS }
    await pollUntil({ ...options, ...(signal === undefined ? {} : { signal }) }, async () => {
      if (await answers(endpoint, request.key)) return true
      if (await isServing(container, request)) return undefined
      throw new AppError('unavailable', 'The file service of the volume has ended.')
    })
    return endpoint
  }

  /** Above the directory of a volume, with the driver that it was made with; with that of the settings when it is gone. */
  async #findPlace(volume: string): Promise<DriverConfig | undefined> {
    const { docker, volumeDriver } = this.#parts
    const found = await unlessStatus(404, () => docker.getVolume(volume).inspect())
    if (found === undefined) return placeAbove(volumeDriver)
    return placeAbove({ name: found.Driver, options: found.Options ?? {} }, volume)
  }

  /** A driver that mounts a directory leaves it. */
  async #removePlace(name: string, place: DriverConfig, signal: AbortSignal | undefined): Promise<void> {
    const { docker, command, plan } = this.#parts
    const options = volumeRemovalSpec(plan(), { name, command }, place)
    await runVolumeTool(docker, /^removed\r?$/m, { options, timeoutMs: REMOVAL_TIMEOUT_MS, signal })
  }

  async #removeServer(server: string): Promise<void> {
    await this.#parts.network.disconnect(server)
    await removeContainer(this.#parts.docker, server)
  }

  #change<T>(name: string, signal: AbortSignal | undefined, change: () => Promise<T>): Promise<T> {
    return this.#changes.run(name, () => {
      signal?.throwIfAborted()
      return change()
    })
  }
}

/** Whether the service runs with this key. */
async function isServing(container: Container, request: VolumeServerRequest): Promise<boolean> {
  const found = await unlessStatus(404, () => container.inspect())
  const instance = volumeServerCommand(request).at(-1) ?? ''
  return found !== undefined && found.State.Running && found.Args.includes(instance)
}

/** A request that succeeds also keeps the service running for its idle time. On a connection of its own: addresses are used again. */
function answers({ host, port }: VolumeEndpoint, key: Secret): Promise<boolean> {
  const headers = { [KEY_HEADER]: key.reveal() }
  return new Promise((resolve) => {
    const request = get({ host, port, path: '/path?path=/', headers, agent: false, timeout: ANSWER_TIMEOUT_MS }, (answer) => {
      answer.resume()
      answer.once('close', () => resolve(answer.statusCode === 200))
    })
    request.once('timeout', () => request.destroy()).once('error', () => resolve(false))
  })
}
