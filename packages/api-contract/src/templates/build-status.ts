import { Type } from 'typebox'

/**
 * The wire's name for the state of a build (control-plane.md 17.3). `uploaded` is declared and never sent: clients take it for
 * the end of a build that failed (22.2 D3).
 */
export type BuildStatus = 'building' | 'waiting' | 'ready' | 'error'

export const BuildStatus = Type.Unsafe<BuildStatus>({
  type: 'string',
  enum: ['building', 'waiting', 'ready', 'error', 'uploaded'],
  title: 'TemplateBuildStatus',
  description: 'Status of the template build',
})
