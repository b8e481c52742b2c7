import { environmentOf, type Image, type ImageConfig } from '../images/image.ts'
import type { Lookup } from './split-words.ts'

/** What the instructions of one stage change beside its files. */
export class StageState {
  environment: Record<string, string>
  labels: Record<string, string>
  exposedPorts: Record<string, object>
  user: string
  workingDirectory: string
  entrypoint: readonly string[] | undefined
  cmd: readonly string[] | undefined
  shell: readonly string[] = ['/bin/sh', '-c']
  /** Values of ARG: seen by the instructions after it and by RUN, and not part of the image. */
  readonly args = new Map<string, string>()

  constructor(base: ImageConfig | undefined) {
    this.environment = environmentOf(base ?? {})
    this.labels = { ...base?.Labels }
    this.exposedPorts = { ...base?.ExposedPorts }
    this.user = base?.User ?? ''
    this.workingDirectory = base?.WorkingDir === undefined || base.WorkingDir === '' ? '/' : base.WorkingDir
    this.entrypoint = base?.Entrypoint ?? undefined
    this.cmd = base?.Cmd ?? undefined
  }

  /** A variable of the environment hides an argument of its name. */
  readonly lookup: Lookup = (name) => this.environment[name] ?? this.args.get(name)

  toConfig(): ImageConfig {
    return {
      User: this.user,
      Env: Object.entries(this.environment).map(([name, text]) => `${name}=${text}`),
      Entrypoint: this.entrypoint ?? null,
      Cmd: this.cmd ?? null,
      WorkingDir: this.workingDirectory,
      Labels: this.labels,
      ExposedPorts: this.exposedPorts,
    }
  }
}

export type StageImage = Pick<Image, 'config'> & { readonly root: string }
