import type { e2b251 } from '../../../acceptance/support/sdks.ts'

export type Sandbox = InstanceType<typeof e2b251.Sandbox>

/** What the server has acknowledged about one sandbox. One client changes it, with one call at a time. */
export interface KnownSandbox {
  readonly id: string
  sandbox: Sandbox
  /** `unsure` while the outcome of a call is unknown: it runs or is paused. */
  state: 'running' | 'paused' | 'unsure'
  /** Acknowledged contents by path. A path is written once. */
  readonly files: Map<string, string>
  /** What a file in memory has, as long as its processes are the same. */
  memory: string | undefined
  /** A kill was sent, so that it may have ended. */
  isKillSent: boolean
  /** The addresses of the last acknowledged update of the network; undefined while its outcome is unknown. */
  deniedAddresses: readonly string[] | undefined
}

/** Files of an acknowledged snapshot or template. */
export interface KnownImage {
  /** What `Sandbox.create` takes. */
  readonly name: string
  readonly kind: 'snapshot' | 'template'
  readonly files: ReadonlyMap<string, string>
}

export function knownSandbox(sandbox: Sandbox, files: ReadonlyMap<string, string>): KnownSandbox {
  return {
    id: sandbox.sandboxId,
    sandbox,
    state: 'running',
    files: new Map(files),
    memory: undefined,
    isKillSent: false,
    deniedAddresses: [],
  }
}

/** An answer that contradicts what was acknowledged before. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer'
}

/** Something acknowledged is gone. */
export class Lost extends Error {
  override readonly name = 'Lost'
}
