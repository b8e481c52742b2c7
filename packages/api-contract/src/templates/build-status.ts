import { Type } from 'typebox'

/**
 * The wire name of the status of a build (control-plane.md 17.3). `uploaded` is declared but never sent: clients treat it as the end of a
 * failed build (22.2 D3).
 */
export type BuildStatus = 'building' | 'waiting' | 'ready' | 'error'

export const BuildStatus = Type.Unsafe<BuildStatus>({
  type: 'string',
  enum: ['building', 'waiting', 'ready', 'error', 'uploaded'],
  title: 'TemplateBuildStatus',
  description: 'Status of the template build',
})
