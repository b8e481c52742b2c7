import { createHash } from 'node:crypto'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { ImageStore } from '@sandyard/runtime/image-store'
import { checkEgress, checkSpec } from '@sandyard/runtime/check-spec'
import { checkOrigin } from '@sandyard/runtime/origin'
import type { OriginalRequest, ResumeRequest, SandboxRuntime, SnapshotRequest } from '@sandyard/runtime/sandbox-runtime'
import type {
  EgressPolicy,
  ImageRef,
  Keep,
  OriginalFile,
  PauseHandle,
  Resumed,
  RuntimeCapabilities,
  RuntimeChanges,
  RuntimeEvent,
  RuntimeHost,
  RuntimeSandbox,
  RuntimeSnapshot,
  RuntimeVitals,
  SandboxEnd,
  SandboxEndpoint,
  SandboxRef,
  SandboxSpec,
  Usage,
} from '@sandyard/runtime/types'
import type { Container, ContainerCreateOptions } from 'dockerode'
import { listChanges } from './changes/list-changes.ts'
import { readOriginal } from './changes/read-original.ts'
import { listSandboxes } from './containers/list-sandboxes.ts'
import { findMountFailure } from './containers/mount-failure.ts'
import { containerSpec } from './containers/container-spec.ts'
import { createStopped } from './containers/create-stopped.ts'
import { stationOn } from './containers/container-state.ts'
import { removeContainer } from './containers/remove-container.ts'
import { startSandbox, type StartRequest } from './containers/start-sandbox.ts'
import { stuckName, withRenamed } from './containers/stuck-container.ts'
import { readEnd } from './containers/read-end.ts'
import { readUsages } from './containers/read-usage.ts'
import { engineCall, statusOf, toAppError } from './engine/docker-errors.ts'
import { engineId } from './engine/engine-id.ts'
import { pingEngine } from './engine/connect-engine.ts'
import { repeatWhenPruned } from './network/repeat-when-pruned.ts'
import { KeyedQueue } from './engine/keyed-queue.ts'
import { engineEvents } from './events/engine-events.ts'
import { imageExists } from './engine/image-exists.ts'
import { containerName, sandboxFilter } from './labels.ts'
import { makeHandle, readHandle } from './pauses/pause-handle.ts'
import { pauseSandbox } from './pauses/pause-sandbox.ts'
import { resumeSandbox, type ResumedContainer } from './pauses/resume-sandbox.ts'
import { openParts, type RuntimeParts } from './runtime-parts.ts'
import type { DockerRuntimeOptions } from './runtime-options.ts'
import { RUNTIME_NAME } from './runtime-origin.ts'
import { startRuntimeLoops } from './upkeep/runtime-loops.ts'
import { DockerVolumeStore } from './volumes/docker-volume-store.ts'

const STOP_TIMEOUT_MS = 10_000

/**
 * Sandboxes as containers of one Docker engine.
 *
 * Disposing ends the guard, the event streams and the upkeep of this process. These stay on the engine for the next process: the
 * sandboxes, the images of the installation, the network `sandyard-<installation>`, and, shared by all installations, the volumes
 * `sandyard-daemon-<version>` and the images `sandyard/guard`, `sandyard/empty`. `removeInstallations` removes everything that is not shared.
 */
export class DockerRuntime implements SandboxRuntime {
  readonly name = RUNTIME_NAME
  readonly images: ImageStore
  readonly volumes: DockerVolumeStore | undefined
  readonly imageTool: readonly string[]
  readonly #parts: RuntimeParts
  readonly #loops: readonly Loop[]
  readonly #starts = new SingleFlight<string, string>()
  /** One change of a sandbox at a time: a snapshot thaws what it froze, also when a pause has come meanwhile. */
  readonly #changes = new KeyedQueue()
  readonly #disposed = new AbortController()

  private constructor(parts: RuntimeParts) {
    this.#parts = parts
    this.images = parts.images
    this.imageTool = parts.imageTool
    const { volumeServer: command } = parts
    const start = (request: StartRequest): Promise<string> => repeatWhenPruned(parts, () => startSandbox(parts, request), request.signal)
    this.volumes = command.length === 0 ? undefined : new DockerVolumeStore({ ...parts, command, start })
    this.#loops = startRuntimeLoops(parts, (ref, read, signal) => this.#applyEgress(ref, read, signal))
  }

  /**
   * Opens a runtime that is ready to start sandboxes: network, daemon volume and guard exist. The first time on an engine this builds
   * the guard's image and takes a minute at most.
   *
   * @throws AppError `invalid_argument`, `failed_precondition` or `unavailable` with a message for the operator
   */
  static async open(options: DockerRuntimeOptions): Promise<DockerRuntime> {
    return new DockerRuntime(await openParts(options))
  }

  capabilities(): RuntimeCapabilities {
    const { diskLimit, egress, hasGateway, network } = this.#parts
    return {
      pause: 'memory',
      snapshot: 'files',
      diskLimit,
      egress: egress !== undefined,
      egressPolicies: egress !== undefined,
      egressGateway: hasGateway ? network.gateway : undefined,
      mounts: this.volumes !== undefined,
      changes: true,
    }
  }

  host(): RuntimeHost {
    return this.#parts.host
  }

  generation(): string {
    return createHash('sha256').update(JSON.stringify(this.#parts.plan())).digest('hex')
  }

  ping(signal: AbortSignal): Promise<void> {
    return pingEngine(this.#parts.docker, signal)
  }

  async vitals(signal: AbortSignal): Promise<RuntimeVitals> {
    signal.throwIfAborted()
    return (await this.#parts.egress?.vitals()) ?? { guardRestarts: 0, disk: undefined, memory: undefined }
  }

  engineId(signal: AbortSignal): Promise<string> {
    return engineId(this.#parts.docker, signal)
  }

  create(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    return this.#start(spec, spec.image, signal)
  }

  async createFrom(snapshot: RuntimeSnapshot, spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxEndpoint> {
    checkOrigin('snapshot', snapshot, await this.#parts.origin())
    return this.#start(spec, snapshot.image, signal)
  }

  async createPaused(snapshot: RuntimeSnapshot, spec: SandboxSpec): Promise<PauseHandle> {
    const origin = await this.#parts.origin()
    checkOrigin('snapshot', snapshot, origin)
    checkSpec(spec, this.capabilities())
    const wanted = { name: this.#nameOf(spec), options: containerSpec(this.#parts.plan(), spec, snapshot.image) }
    await this.#requireVolumes(spec)
    return this.#change(spec, async () => makeHandle(origin, wanted.name, await createStopped(this.#parts, wanted)))
  }

  pause(ref: SandboxRef, keep: Keep, former?: PauseHandle): Promise<PauseHandle> {
    const name = this.#nameOf(ref)
    return this.#change(ref, async () => {
      const origin = await this.#parts.origin()
      const startedAt = keep === 'memory' && former !== undefined ? readHandle(former, origin, name).startedAt : undefined
      return makeHandle(origin, name, await pauseSandbox(this.#parts, { name, keep, startedAt }))
    })
  }

  async resume(handle: PauseHandle, { spec, keep }: ResumeRequest, signal?: AbortSignal): Promise<Resumed> {
    const name = this.#nameOf(spec)
    const { keep: kept, startedAt } = readHandle(handle, await this.#parts.origin(), name)
    const { installation, plan } = this.#parts
    const optionsFor = (image: ImageRef): ContainerCreateOptions => containerSpec(plan(), spec, image)
    const wanted = { name, policy: spec.egress, keep: kept === 'files' ? kept : keep, startedAt, signal }
    const request = { ...wanted, replacement: { installation, optionsFor } }
    const run = (): Promise<ResumedContainer> => repeatWhenPruned(this.#parts, () => resumeSandbox(this.#parts, request), signal)
    const { host, restored } = await this.#change(spec, run, signal)
    return { endpoint: this.#endpoint(host), restored }
  }

  snapshot(ref: SandboxRef, request: SnapshotRequest): Promise<RuntimeSnapshot> {
    return this.#change(ref, () => this.#parts.snapshots.take(ref, request))
  }

  async setEgress(ref: SandboxRef, policy: EgressPolicy, signal?: AbortSignal): Promise<void> {
    checkEgress(policy, this.capabilities())
    await this.#applyEgress(ref, async () => policy, signal)
  }

  async deleteSnapshot(snapshot: RuntimeSnapshot): Promise<void> {
    checkOrigin('snapshot', snapshot, await this.#parts.origin())
    await engineCall('The snapshot could not be deleted.', () => this.#parts.kept.remove(snapshot.image))
  }

  remove(ref: SandboxRef): Promise<void> {
    return engineCall('The sandbox could not be removed.', async () => {
      await this.#parts.network.disconnect(this.#nameOf(ref))
      await removeContainer(this.#parts.docker, this.#nameOf(ref))
      await removeContainer(this.#parts.docker, stuckName(this.#nameOf(ref)))
    })
  }

  list(sandboxId?: string): Promise<RuntimeSandbox[]> {
    const { docker, installation } = this.#parts
    return engineCall('The sandboxes could not be listed.', () => listSandboxes(docker, sandboxFilter(installation, sandboxId)))
  }

  changes(ref: SandboxRef, maxBytes: number, signal: AbortSignal): Promise<RuntimeChanges> {
    return listChanges(this.#parts.docker, this.#nameOf(ref), { maxBytes, signal })
  }

  readOriginal(ref: SandboxRef, request: OriginalRequest, signal: AbortSignal): Promise<OriginalFile> {
    return readOriginal(this.#parts, { ...request, name: this.#nameOf(ref), signal })
  }

  findEnd(ref: SandboxRef): Promise<SandboxEnd | undefined> {
    return engineCall('The end of the sandbox could not be read.', () => readEnd(this.#containerOf(ref)))
  }

  usage(refs: readonly SandboxRef[]): Promise<Map<string, Usage>> {
    return readUsages(refs, (ref) => this.#containerOf(ref))
  }

  events(signal: AbortSignal): Promise<AsyncIterable<RuntimeEvent>> {
    const { docker, installation, maxUnreadEvents: maxUnread } = this.#parts
    return engineEvents(docker, { installation, maxUnread, signal: AbortSignal.any([signal, this.#disposed.signal]) })
  }

  imageExists(image: ImageRef): Promise<boolean> {
    return engineCall('The image could not be looked up.', () => imageExists(this.#parts.docker, image))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort()
    // A loop that waits for a hanging engine must not keep the process alive.
    const stopped = new AbortController()
    const late = delay(STOP_TIMEOUT_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
    await Promise.race([Promise.all(this.#loops.map((loop) => loop.stop())), late])
    stopped.abort()
    await this.#parts.egress?.[Symbol.asyncDispose]()
  }

  async #start(spec: SandboxSpec, image: ImageRef, signal: AbortSignal | undefined): Promise<SandboxEndpoint> {
    signal?.throwIfAborted()
    checkSpec(spec, this.capabilities())
    const name = this.#nameOf(spec)
    const options = containerSpec(this.#parts.plan(), spec, image)
    const host = await this.#starts.run(name, async () => {
      try {
        await this.#requireVolumes(spec)
        await this.#parts.volumeFree.ensure(image)
        return await repeatWhenPruned(this.#parts, () => startSandbox(this.#parts, { name, options, policy: spec.egress, signal }), signal)
      } catch (err) {
        if (signal?.aborted && err === signal.reason) throw err
        throw findMountFailure(err, spec.mounts) ?? toAppError(err, 'The sandbox could not be started.')
      }
    })
    return this.#endpoint(host)
  }

  /** The policy is read when no other change of the sandbox is in progress. A container without processes gets it when it is resumed. */
  #applyEgress(ref: SandboxRef, read: () => Promise<EgressPolicy>, signal?: AbortSignal): Promise<void> {
    const { egress, network } = this.#parts
    const apply = async (): Promise<void> => {
      const { id } = await network.ensure()
      const found = await this.#containerOf(ref).inspect()
      const station = stationOn(id, found)
      if (station === undefined || !found.State.Running) return
      const policy = await read()
      signal?.throwIfAborted()
      await egress?.register(station, policy)
    }
    return this.#change(ref, apply, signal)
  }

  /** Waits for the other changes of the sandbox. @throws the abort reason */
  async #change<T>(ref: SandboxRef, change: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      const name = this.#nameOf(ref)
      return await this.#changes.run(name, () => withRenamed(this.#parts.docker, name, change))
    } catch (err) {
      if (signal?.aborted && err === signal.reason) throw err
      if (statusOf(err) === 404) throw new AppError('not_found', `Sandbox "${ref.sandboxId}" does not exist.`, { cause: err })
      throw toAppError(err, 'The Docker engine refused the change of the sandbox.')
    }
  }

  /** @throws AppError `not_found` */
  async #requireVolumes({ mounts }: SandboxSpec): Promise<void> {
    await this.volumes?.require(mounts.map(({ volume }) => volume))
  }

  #containerOf(ref: SandboxRef): Container {
    return this.#parts.docker.getContainer(this.#nameOf(ref))
  }

  #nameOf(ref: SandboxRef): string {
    return containerName(this.#parts.installation, ref)
  }

  #endpoint(host: string): SandboxEndpoint {
    return { host, daemonPort: this.#parts.daemonPort }
  }
}
