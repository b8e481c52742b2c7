import type { CommandContext } from '@sandyard/db/schema/build'
import type { BuildPlan } from '../build-plan.ts'
import type { SourceBuild } from './source-build.ts'

/** The start and ready commands of a build and what they run in. */
export interface TemplateCommands {
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  readonly context: CommandContext
}

/** Asked of a start command that comes without a way to tell that it is ready. */
const DEFAULT_READY_CMD = 'sleep 20'

/**
 * What a build gives itself, else what it inherits (control-plane.md 11.6). An inherited start command keeps its own context; one of
 * the build's own has the build's.
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
