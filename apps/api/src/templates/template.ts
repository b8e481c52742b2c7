import type { CommandContext } from '@sandyard/db/schema/build'
import type { ImageRef, RuntimeSnapshot } from '@sandyard/runtime/types'

/** A template with its owner and visibility. */
export interface Template {
  readonly templateId: string
  readonly teamId: string
  readonly isPublic: boolean
  /** A snapshot of a sandbox made it. */
  readonly isSnapshot: boolean
  /** Its first name, without the namespace. */
  readonly alias: string | undefined
}

/** A build that sandboxes can start from. */
export interface ReadyBuild {
  readonly buildId: string
  readonly image: ImageRef
  /** Undefined for the result of a build. */
  readonly snapshot?: RuntimeSnapshot
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
  /** The context of the start command; undefined: the defaults above. */
  readonly startContext: CommandContext | undefined
}

/** A team may use its own templates and public ones (control-plane.md 2.4). */
export function isUsableBy(template: Pick<Template, 'isPublic' | 'teamId'>, teamId: string): boolean {
  return template.isPublic || template.teamId === teamId
}
