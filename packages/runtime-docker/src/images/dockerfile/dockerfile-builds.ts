import { randomId } from '@sandyard/kit/ids/ids'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { DockerfileRequest, ImageFacts } from '@sandyard/runtime/image-store'
import type { SandboxRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import type { ContainerInspectInfo, ImageBuildOptions } from 'dockerode'
import type { IncomingMessage } from 'node:http'
import type { CgroupFacts } from '../../engine/engine-facts.ts'
import { unlessStatus } from '../../engine/docker-errors.ts'
import { containerName, LABEL } from '../../labels.ts'
import { packContext } from '../build-context.ts'
import { followAnswer } from '../../engine/follow-answer.ts'
import { toFacts } from '../image-facts.ts'
import { hasVolumes, nameWithoutVolumes } from '../image-volumes.ts'
import { checkSize } from '../image-size.ts'
import type { KeptImages } from '../kept-images.ts'
import { toBuildError } from './builder-errors.ts'
import { BuilderOutput } from './builder-output.ts'
import { undeclaredArguments } from './undeclared-arguments.ts'
import { checkTrigger, rewriteDockerfile, type RewrittenDockerfile } from './rewrite-dockerfile.ts'
import type { BaseImage } from './rewrite-sources.ts'
import { stepLimits } from './step-limits.ts'

export interface DockerfileBuildsOptions {
  readonly docker: Docker
  readonly installation: string
  readonly kept: KeptImages
  readonly cgroups: CgroupFacts
  readonly maxSizeBytes: number
  /** The variables of steps that tell of the proxy. */
  readonly proxyVariables: Readonly<Record<string, string>>
  /** Finds the image of a FROM, or pulls it. */
  readonly pull: (reference: string, options: { onLine: (line: string) => void; signal: AbortSignal | undefined }) => Promise<ImageFacts>
}

/**
 * Builds Dockerfiles with the engine's classic builder, in the network of a sandbox. The engine's cache of earlier builds is never
 * used: all teams share it, so a step of one team would get the random key or the download of another.
 */
export class DockerfileBuilds {
  readonly #options: DockerfileBuildsOptions

  constructor(options: DockerfileBuildsOptions) {
    this.#options = options
  }

  async build({ dockerfile, within, onLine = () => undefined }: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts> {
    const { docker, installation, kept } = this.#options
    signal?.throwIfAborted()
    const sandbox = await this.#runningSandbox(within)
    const build = randomId(20)
    const pulled = new Set<string>()
    const triggersOfBases: string[] = []
    const resolve = async (reference: string): Promise<BaseImage> => {
      const { image } = await this.#options.pull(reference, { onLine, signal })
      pulled.add(image)
      const { Id, Config } = await docker.getImage(image).inspect()
      const triggers = Config.OnBuild ?? []
      for (const trigger of triggers) checkTrigger(trigger)
      triggersOfBases.push(...triggers)
      return { id: Id, env: Config.Env ?? [], workdir: Config.WorkingDir || undefined, triggers }
    }
    try {
      const labels = { [LABEL.installation]: installation, [LABEL.role]: 'dockerfile', [LABEL.build]: build }
      const rewritten = await rewriteDockerfile(dockerfile, { resolve, labels })
      return await kept.during(build, () => this.#run(rewritten, { sandbox, triggersOfBases, onLine, signal }))
    } catch (err) {
      signal?.throwIfAborted()
      throw toBuildError(err)
    } finally {
      // The collector removes an image that could not be removed here: nothing refers to it, and `list` returns it.
      for (const image of pulled) await kept.remove(image).catch(() => undefined)
    }
  }

  async #run({ text, shown }: RewrittenDockerfile, run: Run): Promise<ImageFacts> {
    const { docker, installation, kept, cgroups, maxSizeBytes, proxyVariables } = this.#options
    const { sandbox, triggersOfBases, onLine, signal } = run
    const name = kept.newName()
    const options: ImageBuildOptions = {
      t: name,
      version: '1',
      nocache: true,
      rm: true,
      forcerm: true,
      // The builder stores neither the values nor the names of these arguments, unless the Dockerfile declares them.
      buildargs: undeclaredArguments(proxyVariables, [...text.split('\n'), ...triggersOfBases]),
      networkmode: `container:${sandbox.Id}`,
      ...stepLimits(sandbox, cgroups),
      ...(signal === undefined ? {} : { abortSignal: signal }),
    }
    const output = new BuilderOutput({ shown, onLine })
    let answer: IncomingMessage | undefined
    try {
      answer = (await docker.buildImage(packContext([{ name: 'Dockerfile', bytes: Buffer.from(text) }]), options)) as IncomingMessage
      await followAnswer(answer, (news) => output.add(news))
    } finally {
      output.end()
      // The builder ends its step when the connection closes.
      answer?.destroy()
    }
    const found = await docker.getImage(name).inspect()
    try {
      checkSize('the image of the Dockerfile', found.Size, maxSizeBytes)
      if (hasVolumes(found)) await nameWithoutVolumes(docker, { source: found, name, installation })
    } catch (err) {
      await kept.remove(name)
      throw err
    }
    return toFacts(name, found)
  }

  async #runningSandbox(ref: SandboxRef): Promise<ContainerInspectInfo> {
    const { docker, installation } = this.#options
    const found = await unlessStatus(404, () => docker.getContainer(containerName(installation, ref)).inspect())
    if (found === undefined) throw new AppError('not_found', `Sandbox "${ref.sandboxId}" does not exist.`)
    if (found.State.Running && !found.State.Paused) return found
    throw new AppError('failed_precondition', `Sandbox "${ref.sandboxId}" is not running.`)
  }
}

interface Run {
  readonly sandbox: ContainerInspectInfo
  /** The instructions that the images of FROM add. */
  readonly triggersOfBases: readonly string[]
  readonly onLine: (line: string) => void
  readonly signal: AbortSignal | undefined
}
