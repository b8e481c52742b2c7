import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ImageStore } from '../images/image-store.ts'
import { ownArchitecture, type Image } from '../images/image.ts'
import { pullImage } from '../images/pull-image.ts'
import { copyTree } from '../root-file-system/run-program.ts'
import { parseDockerfile } from './parse-dockerfile.ts'
import { planStages, type Stage, type StagePlan } from './plan-stages.ts'
import { runInstruction } from './run-instruction.ts'
import { StageState, type StageImage } from './stage-state.ts'

export interface BuildImage {
  readonly dockerfile: string
  readonly context: string
  readonly buildArgs: Readonly<Record<string, string>>
  readonly target: string | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly proot: string
  readonly directory: string
  /** Whether images of registries are fetched again. */
  readonly fetchesAgain: boolean
  readonly report: (line: string) => void
}

/** Runs the stages that the target needs, one after the other and without a cache of steps. */
export async function buildImage(store: ImageStore, build: BuildImage): Promise<Image> {
  const { dockerfile, buildArgs, target, directory } = build
  const plan = planStages(parseDockerfile(dockerfile), { buildArgs, target, platform: `linux/${ownArchitecture()}` })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = await mkdtemp(join(directory, 'build-'))
  try {
    const stages = new StageBuilder(store, { ...build, plan, temporary })
    const { config, root } = await stages.stage(plan.target)
    return await store.add(async (folder) => {
      await rename(root, join(folder, 'root'))
      const Labels = { ...config.Labels, ...build.labels }
      return { config: { ...config, Labels }, os: 'linux', architecture: ownArchitecture(), kind: 'root' }
    })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

class StageBuilder {
  readonly #store: ImageStore
  readonly #build: BuildImage & { plan: StagePlan; temporary: string }
  readonly #built = new Map<Stage, StageImage>()
  readonly #unpacked = new Map<string, string>()

  constructor(store: ImageStore, build: BuildImage & { plan: StagePlan; temporary: string }) {
    this.#store = store
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
      report(`${instruction.keyword} ${instruction.text.split('\n')[0]?.slice(0, 200)}`)
      await runInstruction(instruction, {
        ...this.#build,
        state,
        root,
        globals: plan.globals,
        rootOf: async (from) => this.#rootOf(stage, from),
      })
    }
    return { config: state.toConfig(), root }
  }

  async #start({ base, line }: Stage, root: string): Promise<StageImage['config'] | undefined> {
    if (base === 'scratch') {
      await mkdir(root, { mode: 0o755 })
      return undefined
    }
    if ('index' in base) {
      const { config, root: from } = await this.stage(base)
      await mkdir(root, { mode: 0o755 })
      await copyTree(from, root)
      return config
    }
    this.#build.report(`FROM ${base.image} (line ${line})`)
    const image = await this.#image(base.image)
    await this.#store.unpack(image, root)
    return image.config
  }

  async #rootOf(stage: Stage, from: string): Promise<string> {
    const source = stage.sources.get(from)
    if (source === undefined) throw new AppError('internal', `COPY --from=${from} was not planned`)
    if ('index' in source) return (await this.stage(source)).root
    const known = this.#unpacked.get(source.image)
    if (known !== undefined) return known
    const root = join(this.#build.temporary, `image-${this.#unpacked.size}`)
    await this.#store.unpack(await this.#image(source.image), root)
    this.#unpacked.set(source.image, root)
    return root
  }

  async #image(reference: string): Promise<Image> {
    const known = await this.#store.find(reference)
    if (known === undefined || (this.#build.fetchesAgain && known.kind === 'layers')) return pullImage(this.#store, reference)
    return known
  }
}
