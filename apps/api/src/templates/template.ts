import type { CommandContext } from '@sandyard/db/schema/build'
import type { ImageRef } from '@sandyard/runtime/types'

/** A template as something to be used: whose it is and who may. */
export interface Template {
  readonly templateId: string
  readonly teamId: string
  readonly isPublic: boolean
  /** Its first name, without the namespace. */
  readonly alias: string | undefined
}

/** A build that sandboxes can be started from. */
export interface ReadyBuild {
  readonly buildId: string
  readonly image: ImageRef
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
  readonly defaultUser: string
  readonly defaultWorkdir: string
  /** Undefined for builds of unknown age. */
  readonly envdVersion: string | undefined
  /** The variables of every process in its sandboxes. */
  readonly env: Readonly<Record<string, string>>
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  /** What the start command runs in; undefined: the defaults above. */
  readonly startContext: CommandContext | undefined
}

/** Own templates and public ones may be used (control-plane.md 2.4). */
export function isUsableBy(template: Pick<Template, 'isPublic' | 'teamId'>, teamId: string): boolean {
  return template.isPublic || template.teamId === teamId
}
