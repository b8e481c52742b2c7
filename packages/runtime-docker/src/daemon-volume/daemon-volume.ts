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
/** How long a filler may do nothing at all before it counts as dead. While it sends, the engine keeps questions to it waiting. */
const IDLE_FILLER_MS = 5000
const SLOW_ANSWER_MS = 1000
const LOOK_EVERY_MS = 100
const FILL_TIMEOUT_MS = 300_000

/**
 * The read-only volume with the daemon, one for each version and shared by all installations on an engine. It is filled once: a
 * marker, written last, says that it is whole. Volumes cannot be renamed, so fillers exclude each other by the name of the
 * container through which they write; one that died is noticed and replaced.
 */
export class DaemonVolume {
  readonly name: string
  readonly #docker: Docker
  readonly #dist: DaemonDist
  readonly #manifest: DaemonManifest
  readonly #flight = new SingleFlight<'ensure', string>()
  #madeAt: string | undefined

  constructor(docker: Docker, dist: DaemonDist, manifest: DaemonManifest) {
    this.name = `sandyard-daemon-${dist.version}`
    this.#docker = docker
    this.#dist = dist
    this.#manifest = manifest
  }

  /** Returns once the volume is there and whole. */
  async ensure(): Promise<void> {
    this.#madeAt ??= await this.#flight.run('ensure', () =>
      engineCall('The daemon volume could not be filled.', () =>
        pollUntil({ what: 'the daemon volume', timeoutMs: FILL_TIMEOUT_MS, everyMs: LOOK_EVERY_MS }, () => this.#tryEnsure()),
      ),
    )
  }

  /**
   * False when the volume is not the one that `ensure` saw: the engine makes an empty one for a container that names a volume
   * which was removed (`docker volume prune`). The next `ensure` fills it.
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

  /** Undefined when another process is at it. */
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
      // Taken for dead and replaced: look again.
      if (await this.#isGone(door)) return undefined
      throw err
    } finally {
      await unlessStatus(404, () => door.remove({ force: true, v: true })).catch(() => undefined)
    }
  }

  get #doorName(): string {
    return `${this.name}-door`
  }

  /** A container that is never started and has the volume mounted. Undefined when there is one already. */
  #openDoor(): Promise<Container | undefined> {
    return unlessStatus(409, () =>
      this.#docker.createContainer({
        name: this.#doorName,
        Image: EMPTY_IMAGE,
        Cmd: ['-'],
        NetworkDisabled: true,
        Labels: { [LABEL.role]: 'daemon-volume' },
        HostConfig: {
          Mounts: [
            {
              Type: 'volume',
              Source: this.name,
              Target: this.#manifest.mount,
              VolumeOptions: {
                NoCopy: true,
                Labels: { [LABEL.role]: 'daemon-volume', [LABEL.daemonVersion]: this.#dist.version },
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
    // It has no body, but its connection is free only when it has been read.
    answer?.resume()
    return answer !== undefined
  }

  /**
   * Waits until the other process has closed its door, and closes it when nothing happens. The question for the marker is answered
   * only while nothing is being written, so an answer that took its time was a filler at work.
   */
  async #awaitOther(): Promise<void> {
    const found = await unlessStatus(404, () => this.#docker.getContainer(this.#doorName).inspect())
    if (found === undefined) return
    const door = this.#docker.getContainer(found.Id)
    let quietSince = performance.now()
    while (performance.now() - quietSince < IDLE_FILLER_MS) {
      const askedAt = performance.now()
      // What the answer is does not matter, and there is none from a door that is being closed.
      await this.#hasMarker(door).catch(() => false)
      if (performance.now() - askedAt > SLOW_ANSWER_MS) quietSince = performance.now()
      if (await this.#isGone(door)) return
      await delay(LOOK_EVERY_MS)
    }
    await unlessStatus(404, () => door.remove({ force: true, v: true }))
  }
}
