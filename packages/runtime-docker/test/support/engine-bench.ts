import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadOnce } from '@sandyard/kit/async/load-once'
import { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { DEFAULT_EGRESS, type EgressPolicy, type SandboxSpec } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import type { DaemonDist } from '../../src/daemon-volume/daemon-dist.ts'
import { DockerRuntime } from '../../src/docker-runtime.ts'
import { connectEngine } from '../../src/engine/connect-engine.ts'
import { ensureGuardImage } from '../../src/egress/guard-image.ts'
import { engineResolvers } from '../../src/egress/resolvers.ts'
import { unlessStatus } from '../../src/engine/docker-errors.ts'
import { removeInstallations } from '../../src/remove-installation.ts'
import type { DockerRuntimeOptions } from '../../src/runtime-options.ts'
import { makeStandInDist, sharedStandInDist, type DistPart } from './stand-in-dist.ts'

/** The image that every engine has after `npm start` or `npm test` has prepared it. */
export const DEBIAN = 'debian:bookworm-slim'

/** Another engine to test, instead of this machine's: `DOCKER_HOST`. */
// oxlint-disable-next-line node/no-process-env -- selects the engine under test
export const ENGINE = process.env['DOCKER_HOST']

const QUIET = { step: () => undefined, detail: () => undefined }

/**
 * A runtime without given resolvers starts a container to read them, again after each change of the host's addresses, which every new network of
 * another test file is: half of all containers of the tests were such probes.
 */
export const findResolvers = loadOnce(async () => {
  const docker = await connectEngine(ENGINE)
  return engineResolvers(docker, { installation: `test-${randomId(8)}`, image: await ensureGuardImage(docker, { progress: QUIET }) })
})

interface BenchOptions {
  /** For tests that change the distribution or its volume, which are shared otherwise. */
  readonly ownDist?: boolean
  /** With the file service of volumes (`volumeServer`). */
  readonly part?: DistPart
}

/** A connection to the engine, a stand-in daemon, and runtimes that are removed from the engine at the end. */
export class EngineBench implements AsyncDisposable {
  readonly docker: Docker
  readonly dist: DaemonDist
  /** With a distribution of its own. */
  readonly #folder: string | undefined
  readonly #resolvers: readonly string[]
  readonly #installations = new Set<string>()
  readonly #runtimes: DockerRuntime[] = []
  /** The policies that the tests asked for, as an owner of sandboxes keeps them: runtimes repair the rules after them every minute. */
  readonly #wanted = new Map<string, EgressPolicy>()

  private constructor(parts: Pick<EngineBench, 'docker' | 'dist'> & { folder: string | undefined; resolvers: readonly string[] }) {
    this.docker = parts.docker
    this.dist = parts.dist
    this.#folder = parts.folder
    this.#resolvers = parts.resolvers
  }

  static async open({ ownDist = false, part }: BenchOptions = {}): Promise<EngineBench> {
    const docker = await connectEngine(ENGINE)
    const folder = ownDist ? await mkdtemp(join(tmpdir(), 'sandyard-dist-')) : undefined
    const dist = folder === undefined ? await sharedStandInDist(part) : await makeStandInDist(folder, folder)
    return new EngineBench({ docker, dist, folder, resolvers: await findResolvers() })
  }

  /** Options of a runtime that is removed from the engine at the end. */
  options(change: Partial<DockerRuntimeOptions> = {}): DockerRuntimeOptions {
    const installation = change.installation ?? `test-${randomId(8)}`
    this.#installations.add(installation)
    return {
      installation,
      daemonDist: this.dist,
      dockerHost: ENGINE,
      log: silentLogger(),
      progress: QUIET,
      resolvers: this.#resolvers,
      registries: ['*', '127.0.0.1'],
      wantedEgress: async (sandboxIds) => new Map(sandboxIds.map((id) => [id, this.#wanted.get(id) ?? DEFAULT_EGRESS])),
      ...change,
    }
  }

  async runtime(change: Partial<DockerRuntimeOptions> = {}): Promise<DockerRuntime> {
    const runtime = await DockerRuntime.open(this.options(change))
    this.#runtimes.push(runtime)
    this.#noteWanted(runtime)
    return runtime
  }

  #noteWanted(runtime: DockerRuntime): void {
    const [create, resume, setEgress] = [runtime.create.bind(runtime), runtime.resume.bind(runtime), runtime.setEgress.bind(runtime)]
    const note = ({ sandboxId, egress }: Pick<SandboxSpec, 'sandboxId' | 'egress'>): void => void this.#wanted.set(sandboxId, egress)
    runtime.create = (spec, ...rest) => {
      note(spec)
      return create(spec, ...rest)
    }
    runtime.resume = (handle, options, ...rest) => {
      note(options.spec)
      return resume(handle, options, ...rest)
    }
    runtime.setEgress = (ref, egress, ...rest) => {
      note({ ...ref, egress })
      return setEgress(ref, egress, ...rest)
    }
  }

  get volume(): string {
    return `sandyard-daemon-${this.dist.version}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#runtimes) await runtime[Symbol.asyncDispose]()
    await removeInstallations(this.docker, [...this.#installations])
    if (this.#folder === undefined) return
    await unlessStatus(404, () => this.docker.getVolume(this.volume).remove())
    await rm(this.#folder, { recursive: true })
  }
}

/** A small sandbox with its own name. */
export function sandboxSpec(change: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    sandboxId: `i${randomId(19)}`,
    incarnation: 1,
    image: DEBIAN,
    resources: { cpuCount: 1, memoryMib: 256, diskMib: 512 },
    instanceKey: new Secret(randomId(32)),
    allowPrivilegeGain: true,
    mounts: [],
    egress: DEFAULT_EGRESS,
    ...change,
  }
}
