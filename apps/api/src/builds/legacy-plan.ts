import type { BuildPlan } from './build-plan.ts'

export interface LegacySource {
  readonly dockerfile: string
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
}

/** What a build of the first generation does: its Dockerfile, always afresh (control-plane.md 10.2). */
export function toLegacyPlan({ dockerfile, startCmd, readyCmd }: LegacySource): BuildPlan {
  return { source: { kind: 'dockerfile', text: dockerfile }, steps: [], force: true, startCmd, readyCmd }
}
