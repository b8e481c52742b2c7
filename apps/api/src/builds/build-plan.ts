import type { CommandContext } from '@sandyard/db/schema/build'

/** The base of a build. */
export type BuildSource =
  | { readonly kind: 'image'; readonly reference: string }
  /** A ready build of a template, resolved when the build was started. */
  | { readonly kind: 'template'; readonly reference: string; readonly buildId: string }
  | { readonly kind: 'dockerfile'; readonly text: string }

/** One instruction as the client sent it (control-plane.md 11.4), not validated. */
export interface BuildStep {
  readonly type: string
  readonly args: readonly string[]
  readonly filesHash?: string | undefined
  /** Runs this step and all later ones without the cache. */
  readonly force: boolean
}

/** What to build. Written when the build is started, then immutable. */
export interface BuildPlan {
  readonly source: BuildSource
  readonly steps: readonly BuildStep[]
  /** Does not use the cache. */
  readonly force: boolean
  readonly startCmd?: string | undefined
  readonly readyCmd?: string | undefined
}

/** What sandboxes of a finished build start from. */
export interface BuildResult {
  readonly image: string
  readonly defaultUser: string
  readonly defaultWorkdir: string
  readonly env: Readonly<Record<string, string>>
  readonly startCmd?: string | undefined
  readonly readyCmd?: string | undefined
  /** The context of the start command; absent: the defaults. */
  readonly startContext?: CommandContext | undefined
}

export interface LegacySource {
  readonly dockerfile: string
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
}

/** The plan of a first-generation build: its Dockerfile, always without the cache (control-plane.md 10.2). */
export function toLegacyPlan({ dockerfile, startCmd, readyCmd }: LegacySource): BuildPlan {
  return { source: { kind: 'dockerfile', text: dockerfile }, steps: [], force: true, startCmd, readyCmd }
}
