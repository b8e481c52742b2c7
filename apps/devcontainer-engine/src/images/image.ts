/** The part of an image's configuration that a dev container uses, in the spelling of images. */
export interface ImageConfig {
  readonly User?: string
  readonly Env?: readonly string[]
  readonly Entrypoint?: readonly string[] | null
  readonly Cmd?: readonly string[] | null
  readonly WorkingDir?: string
  readonly Labels?: Readonly<Record<string, string>> | null
  readonly ExposedPorts?: Readonly<Record<string, object>>
  /** Of RUN, CMD and ENTRYPOINT without a list. */
  readonly Shell?: readonly string[] | null
  /** Instructions for builds that start from the image. */
  readonly OnBuild?: readonly string[] | null
}

export interface Image {
  readonly id: string
  readonly config: ImageConfig
  readonly os: string
  readonly architecture: string
  readonly createdAt: string
  /** Whether the layers of a registry are kept, or the root file system that a build made. */
  readonly kind: 'layers' | 'root'
  /** Of the build that made it. */
  readonly buildKey?: string
}

/** `Env` as a record. */
export function environmentOf({ Env = [] }: ImageConfig): Record<string, string> {
  return Object.fromEntries(
    Env.map((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

export function toPairs(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).map(([name, text]) => `${name}=${text}`)
}

/** Docker's names of processors. */
export function ownArchitecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch
}
