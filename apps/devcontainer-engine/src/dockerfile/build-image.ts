import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ImageStore } from '../images/image-store.ts'
import { ownArchitecture, type Image } from '../images/image.ts'
import { pullImage } from '../images/pull-image.ts'
import { copyTree } from '../root-file-system/run-program.ts'
import { withWorkFolder } from '../work/work-folder.ts'
import { buildKey } from './build-key.ts'
import { headOf, parseDockerfile, refuseLine } from './parse-dockerfile.ts'
import { planStages, type Stage, type StagePlan } from './plan-stages.ts'
import { runInstruction } from './run-instruction.ts'
import { StageState, type StageBase, type StageImage } from './stage-state.ts'

export interface BuildImage {
  readonly dockerfile: string
  readonly context: string
  readonly buildArgs: Readonly<Record<string, string>>
  readonly target: string | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly proot: string
  readonly outerEnvironment: NodeJS.ProcessEnv
  readonly directory: string
  /** Whether images of registries are fetched again. */
  readonly fetchesAgain: boolean
  readonly usesEarlier: boolean
  readonly report: (line: string) => void
}

/** Runs the stages that the target needs, one after the other. A build that was done before with the same files and images is not done again. */
export async function buildImage(store: ImageStore, build: BuildImage): Promise<Image> {
  const { dockerfile, buildArgs, target, directory, labels } = build
  const plan = planStages(parseDockerfile(dockerfile), { buildArgs, target, platform: `linux/${ownArchitecture()}` })
  const bases = new BaseImages(store, build.fetchesAgain)
  const idOf = async (reference: string): Promise<string> => (await bases.get(reference)).id
  const key = await buildKey({ ...build, target: plan.target, idOf })
  const earlier = build.usesEarlier ? await store.findBuilt(key) : undefined
  if (earlier !== undefined) {
    build.report('nothing has changed since an earlier build')
    return earlier
  }
  return withWorkFolder(directory, async (temporary) => {
    const { config, root } = await new StageBuilder({ ...build, store, bases, plan, temporary }).stage(plan.target)
    return store.add(async (folder) => {
      await rename(root, join(folder, 'root'))
      return {
        config: { ...config, Labels: { ...config.Labels, ...labels } },
        os: 'linux',
        architecture: ownArchitecture(),
        kind: 'root',
        buildKey: key,
      }
    })
  })
}

/** The images of FROM and COPY --from, each looked up once in a build. */
class BaseImages {
  readonly #store: ImageStore
  readonly #fetchesAgain: boolean
  readonly #known = new Map<string, Image>()

  constructor(store: ImageStore, fetchesAgain: boolean) {
    this.#store = store
    this.#fetchesAgain = fetchesAgain
  }

  async get(reference: string): Promise<Image> {
    const image = this.#known.get(reference) ?? (await this.#find(reference))
    this.#known.set(reference, image)
    return image
  }

  async #find(reference: string): Promise<Image> {
    const found = await this.#store.find(reference)
    return found === undefined || (this.#fetchesAgain && found.kind === 'layers') ? pullImage(this.#store, reference) : found
  }
}

type StageBuild = BuildImage & { store: ImageStore; bases: BaseImages; plan: StagePlan; temporary: string }

class StageBuilder {
  readonly #build: StageBuild
  readonly #built = new Map<Stage, StageImage>()
  readonly #unpacked = new Map<string, string>()

  constructor(build: StageBuild) {
    this.#build = build
  }

  async stage(stage: Stage): Promise<StageImage> {
    const built = this.#built.get(stage) ?? (await this.#run(stage))
    this.#built.set(stage, built)
    return built
  }

  async #run(stage: Stage): Promise<StageImage> {
    const { temporary, report, plan } = this.#build
    const root = join(temporary, `stage-${stage.index}`)
    const state = new StageState(await this.#start(stage, root))
    for (const instruction of stage.instructions) {
      report(headOf(instruction))
      await runInstruction(instruction, {
        ...this.#build,
        state,
        root,
        globals: plan.globals,
        rootOf: async (from) => this.#rootOf(stage, from),
      })
    }
    return { config: state.toConfig(), args: state.args, root }
  }

  async #start({ base, line }: Stage, root: string): Promise<StageBase> {
    if (base === 'scratch') {
      await mkdir(root, { mode: 0o755 })
      return { config: {} }
    }
    if ('index' in base) {
      const built = await this.stage(base)
      await mkdir(root, { mode: 0o755 })
      await copyTree(built.root, root)
      return built
    }
    this.#build.report(`FROM ${base.image} (line ${line})`)
    const image = await this.#build.bases.get(base.image)
    if (image.config.OnBuild?.[0] !== undefined)
      throw refuseLine(line, `the image has ONBUILD ${image.config.OnBuild[0]}, which is not supported`)
    await this.#build.store.unpack(image, root)
    return image
  }

  async #rootOf(stage: Stage, from: string): Promise<string> {
    const source = stage.sources.get(from)
    if (source === undefined) throw new AppError('internal', `COPY --from=${from} was not planned`)
    if ('index' in source) return (await this.stage(source)).root
    const known = this.#unpacked.get(source.image)
    if (known !== undefined) return known
    const root = join(this.#build.temporary, `image-${this.#unpacked.size}`)
    await this.#build.store.unpack(await this.#build.bases.get(source.image), root)
    this.#unpacked.set(source.image, root)
    return root
  }
}
