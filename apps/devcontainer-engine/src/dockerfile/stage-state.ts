import { environmentOf, toPairs, type Image, type ImageConfig } from '../images/image.ts'
import { DEFAULT_PATH } from '../root-file-system/root-process.ts'
import type { Lookup } from './split-words.ts'

/** What a stage starts from. */
export interface StageBase {
  readonly config: ImageConfig
  /** Of another stage. Those of an image are not known. */
  readonly args?: ReadonlyMap<string, string>
}

/** What the instructions of one stage change beside its files. */
export class StageState {
  environment: Record<string, string>
  labels: Record<string, string>
  exposedPorts: Record<string, object>
  user: string
  workingDirectory: string
  shell: readonly string[]
  #entrypoint: readonly string[] | undefined
  #cmd: readonly string[] | undefined
  #hasOwnCmd = false
  /** Values of ARG: seen by the instructions after it, by RUN and by stages that start from this one, and not part of the image. */
  readonly args: Map<string, string>

  constructor({ config, args }: StageBase) {
    // `PATH=$PATH:/more` works for an image without a PATH, too.
    this.environment = { PATH: DEFAULT_PATH, ...environmentOf(config) }
    this.labels = { ...config.Labels }
    this.exposedPorts = { ...config.ExposedPorts }
    this.user = config.User ?? ''
    this.workingDirectory = config.WorkingDir === undefined || config.WorkingDir === '' ? '/' : config.WorkingDir
    this.shell = config.Shell ?? ['/bin/sh', '-c']
    this.#entrypoint = config.Entrypoint ?? undefined
    this.#cmd = config.Cmd ?? undefined
    this.args = new Map(args)
  }

  /** A variable of the environment hides an argument of its name. */
  readonly lookup: Lookup = (name) => this.environment[name] ?? this.args.get(name)

  /** The command of the base was meant for the entry point of the base. */
  setEntrypoint(words: readonly string[]): void {
    this.#entrypoint = words
    if (!this.#hasOwnCmd) this.#cmd = undefined
  }

  setCmd(words: readonly string[]): void {
    this.#cmd = words
    this.#hasOwnCmd = true
  }

  toConfig(): ImageConfig {
    return {
      User: this.user,
      Env: toPairs(this.environment),
      Entrypoint: this.#entrypoint ?? null,
      Cmd: this.#cmd ?? null,
      WorkingDir: this.workingDirectory,
      Labels: this.labels,
      ExposedPorts: this.exposedPorts,
      Shell: this.shell,
    }
  }
}

/** A stage that was built. */
export interface StageImage extends Pick<Image, 'config'>, StageBase {
  readonly root: string
}
