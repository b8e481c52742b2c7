import type { FileAction } from './agent/file-action.ts'
import type { Script } from './script/script.ts'
import type { WireRequest } from './wire/exchange.ts'

/** One step that both daemons get, with a comparison of the results. */
export type Step =
  | { readonly kind: 'request'; readonly request: WireRequest }
  | { readonly kind: 'act'; readonly action: FileAction }
  | { readonly kind: 'watch'; readonly watch: WatchStep }
  /** `isRead`: the script changes no files. */
  | { readonly kind: 'script'; readonly script: Script; readonly isRead: boolean }

/** A directory that is watched by a stream and by polling while steps change it. */
export interface WatchStep {
  readonly path: string
  readonly recursive: boolean
  readonly includeEntry: boolean
  readonly steps: readonly Step[]
}

/** Steps that build on each other, beginning with the prepared tree. */
export interface Scenario {
  /** The area of the interface, for the report. */
  readonly area: string
  readonly steps: readonly Step[]
  /** Starts new daemons, because the scenario sets a token or defaults. */
  readonly isFresh?: boolean
}

export function oneRequest(area: string, request: WireRequest): Scenario {
  return { area, steps: [{ kind: 'request', request }] }
}
