import type { CliParts } from '../cli-parts.ts'
import { findBuild, showBuildLog } from './build-log.ts'
import type { LogOptions } from './log-line.ts'
import { showSandboxLog } from './sandbox-log.ts'
import { showServerLog } from './server-log.ts'

const SANDBOX_ID = /^i[a-z0-9]{20}$/

/** The log of the server, or of the sandbox or build that `id` names. */
export async function showLog(parts: CliParts, id: string | undefined, options: LogOptions): Promise<void> {
  if (id === undefined) return showServerLog(parts, options)
  if (SANDBOX_ID.test(id)) return showSandboxLog(parts, id, options)
  return showBuildLog(parts, await findBuild(parts, id), options)
}
