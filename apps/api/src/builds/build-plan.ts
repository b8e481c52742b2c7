import type { CommandContext } from '@sandyard/db/schema/build'

/** What a build begins with. */
export type BuildSource =
  | { readonly kind: 'image'; readonly reference: string }
  /** A ready build of a template, found when the start was asked for. */
  | { readonly kind: 'template'; readonly reference: string; readonly buildId: string }
  | { readonly kind: 'dockerfile'; readonly text: string }

/** One instruction as the wire has it (control-plane.md 11.4): nothing about it has been checked. */
export interface BuildStep {
  readonly type: string
  readonly args: readonly string[]
  readonly filesHash?: string | undefined
  /** Runs it, and all that follow, whatever the cache has. */
  readonly force: boolean
}

/** What to build. Written when the start is asked for and never changed. */
export interface BuildPlan {
  readonly source: BuildSource
  readonly steps: readonly BuildStep[]
  /** Nothing is taken from the cache. */
  readonly force: boolean
  readonly startCmd?: string | undefined
  readonly readyCmd?: string | undefined
}

/** What sandboxes of a finished build are made with. */
export interface BuildResult {
  readonly image: string
  readonly defaultUser: string
  readonly defaultWorkdir: string
  readonly env: Readonly<Record<string, string>>
  readonly startCmd?: string | undefined
  readonly readyCmd?: string | undefined
  /** What the start command runs in, where that is not the defaults. */
  readonly startContext?: CommandContext | undefined
}
