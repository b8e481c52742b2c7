import type { CommandContext } from '@sandyard/db/schema/build'
import type { BuildPlan } from '../build-plan.ts'
import type { SourceBuild } from './source-build.ts'

/** The start and ready commands of a build and their context. */
export interface TemplateCommands {
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  readonly context: CommandContext
}

/** The ready command of a start command that has none. */
const DEFAULT_READY_CMD = 'sleep 20'

/**
 * The build's own commands, else the inherited ones (control-plane.md 11.6). An inherited start command keeps its own context; the build's
 * own start command has the context of the build.
 */
export function templateCommands(plan: BuildPlan, own: CommandContext, source: SourceBuild | undefined): TemplateCommands {
  const startCmd = given(plan.startCmd) ?? source?.startCmd
  const readyCmd = given(plan.readyCmd) ?? source?.readyCmd ?? (startCmd === undefined ? undefined : DEFAULT_READY_CMD)
  const isInherited = given(plan.startCmd) === undefined && source?.startCmd !== undefined
  return { startCmd, readyCmd, context: isInherited ? source.startContext : own }
}

/** Clients send an empty command for none. */
function given(command: string | undefined): string | undefined {
  return command === undefined || command.trim() === '' ? undefined : command
}
