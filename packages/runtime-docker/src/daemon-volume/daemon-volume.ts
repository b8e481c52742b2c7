import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import type { Container } from 'dockerode'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../engine/empty-image.ts'
import { LABEL } from '../labels.ts'
import type { DaemonDist, DaemonManifest } from './daemon-dist.ts'
import { packDist } from './pack-dist.ts'

const MARKER = '.complete'
/** A filler that is idle for this long is considered dead. While it sends, the engine answers no call for its container. */
const IDLE_FILLER_MS = 5000
const SLOW_ANSWER_MS = 1000
const LOOK_EVERY_MS = 100
const FILL_TIMEOUT_MS = 300_000

export interface DaemonVolumeOptions {
  readonly docker: Docker
  readonly installation: string
  readonly dist: DaemonDist
  readonly manifest: DaemonManifest
}

/**
 * The read-only volume with the daemon: one for each version, shared by all installations on an engine. Its labels name the
 * installation that created it, which removes it when the version is old. The volume is filled once; a marker, written last, says
 * that it is complete. Volumes cannot be renamed, so fillers lock each other out by the name of the container through which they
 * write. A dead filler is detected and replaced.
 */
export class DaemonVolume {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly #docker: Docker
  readonly #dist: DaemonDist
  readonly #manifest: DaemonManifest
  readonly #flight = new SingleFlight<'ensure', string>()
  #madeAt: string | undefined

  constructor({ docker, installation, dist, manifest }: DaemonVolumeOptions) {
    this.name = `sandyard-daemon-${dist.version}`
    this.labels = { [LABEL.installation]: installation, [LABEL.role]: 'daemon-volume', [LABEL.daemonVersion]: dist.version }
    this.#docker = docker
    this.#dist = dist
    this.#manifest = manifest
  }

  /** Returns when the volume exists and is complete. */
  async ensure(): Promise<void> {
    this.#madeAt ??= await this.#flight.run('ensure', () =>
      engineCall('The daemon volume could not be filled.', () =>
        pollUntil({ what: 'the daemon volume', timeoutMs: FILL_TIMEOUT_MS, everyMs: LOOK_EVERY_MS }, () => this.#tryEnsure()),
      ),
    )
  }

  /**
   * False when the volume is not the one that `ensure` saw. The engine creates an empty volume for a container that names a
   * removed one (`docker volume prune`). The next `ensure` fills it.
   */
  async isIntact(): Promise<boolean> {
    if (this.#madeAt !== undefined && (await this.#createdAt()) === this.#madeAt) return true
    this.#madeAt = undefined
    return false
  }

  async #createdAt(): Promise<string | undefined> {
    const volume = await unlessStatus(404, () => this.#docker.getVolume(this.name).inspect())
    return (volume as { CreatedAt?: string } | undefined)?.CreatedAt
  }

  /** Undefined while another process fills it. */
  async #tryEnsure(): Promise<string | undefined> {
    await ensureEmptyImage(this.#docker)
    const door = await this.#openDoor()
    if (door === undefined) {
      await this.#awaitOther()
      return undefined
    }
    try {
      if (!(await this.#hasMarker(door))) await door.putArchive(packDist(this.#dist.dir, MARKER), { path: this.#manifest.mount })
      return await this.#createdAt()
    } catch (err) {
      // Another process considered this filler dead and replaced it: try again.
      if (await this.#isGone(door)) return undefined
      throw err
    } finally {
      await unlessStatus(404, () => door.remove({ force: true, v: true })).catch(() => undefined)
    }
  }

  get #doorName(): string {
    return `${this.name}-door`
  }

  /** Creates a container that is never started and has the volume mounted. Undefined when one exists already. */
  #openDoor(): Promise<Container | undefined> {
    return unlessStatus(409, () =>
      this.#docker.createContainer({
        name: this.#doorName,
        Image: EMPTY_IMAGE,
        Cmd: ['-'],
        NetworkDisabled: true,
        Labels: this.labels,
        HostConfig: {
          Mounts: [
            {
              Type: 'volume',
              Source: this.name,
              Target: this.#manifest.mount,
              VolumeOptions: {
                NoCopy: true,
                Labels: this.labels,
                DriverConfig: { Name: 'local', Options: {} },
              },
            },
          ],
        },
      }),
    )
  }

  async #isGone(door: Container): Promise<boolean> {
    return (await unlessStatus(404, () => door.inspect())) === undefined
  }

  async #hasMarker(door: Container): Promise<boolean> {
    const path = `${this.#manifest.mount}/${MARKER}`
    const answer = (await unlessStatus(404, () => door.infoArchive({ path }))) as Readable | undefined
    // The answer has no body, but its connection is free only after it was read.
    answer?.resume()
    return answer !== undefined
  }

  /**
   * Waits until the other process has removed its container, and removes it when the filler is idle. While the filler writes, the engine
   * does not answer the request for the marker, so a slow answer means that the filler works.
   */
  async #awaitOther(): Promise<void> {
    const found = await unlessStatus(404, () => this.#docker.getContainer(this.#doorName).inspect())
    if (found === undefined) return
    const door = this.#docker.getContainer(found.Id)
    let quietSince = performance.now()
    while (performance.now() - quietSince < IDLE_FILLER_MS) {
      const askedAt = performance.now()
      // Only the duration counts. A container that is being removed does not answer.
      await this.#hasMarker(door).catch(() => false)
      if (performance.now() - askedAt > SLOW_ANSWER_MS) quietSince = performance.now()
      if (await this.#isGone(door)) return
      await delay(LOOK_EVERY_MS)
    }
    await unlessStatus(404, () => door.remove({ force: true, v: true }))
  }
}
