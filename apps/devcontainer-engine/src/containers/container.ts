import type { ImageConfig } from '../images/image.ts'
import type { ProcessIdentity } from '../work/process-identity.ts'

export interface Mount {
  readonly type: 'bind' | 'volume'
  readonly source: string
  readonly target: string
  readonly name?: string
}

export interface Container {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly image: string
  readonly imageId: string
  /** With what `run` changed of the image's. */
  readonly config: ImageConfig
  readonly mounts: readonly Mount[]
  /** Of the last start. */
  readonly main?: MainProcess
}

export interface MainProcess extends ProcessIdentity {
  readonly startedAt: string
}
