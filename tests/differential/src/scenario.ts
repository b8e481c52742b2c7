import type { FileAction } from './agent/file-action.ts'
import type { Script } from './script/script.ts'
import type { WireRequest } from './wire/exchange.ts'

/** One thing that is done to both daemons and then compared. */
export type Step =
  | { readonly kind: 'request'; readonly request: WireRequest }
  | { readonly kind: 'act'; readonly action: FileAction }
  | { readonly kind: 'watch'; readonly watch: WatchStep }
  /** `isRead`: no file changes. */
  | { readonly kind: 'script'; readonly script: Script; readonly isRead: boolean }

/** A directory that is watched by a stream and by polling while things happen to it. */
export interface WatchStep {
  readonly path: string
  readonly recursive: boolean
  readonly includeEntry: boolean
  readonly steps: readonly Step[]
}

/** Steps that build on each other, over the prepared tree. */
export interface Scenario {
  /** What the requests are about, for the report. */
  readonly area: string
  readonly steps: readonly Step[]
  /** Both daemons are new ones: the scenario sets a token or other defaults. */
  readonly isFresh?: boolean
}

export function oneRequest(area: string, request: WireRequest): Scenario {
  return { area, steps: [{ kind: 'request', request }] }
}
