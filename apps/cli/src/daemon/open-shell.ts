import type { CliParts } from '../cli-parts.ts'
import { EndWith } from '../fail.ts'
import { shellExitCode } from './exit-status.ts'
import { openDaemon } from './open-daemon.ts'
import { requireTerminal, runInTerminal } from './run-in-terminal.ts'

/** A login shell: bash where the image has it. */
const SHELL = 'if [ -x /bin/bash ]; then exec /bin/bash -i -l; fi; exec /bin/sh -i'

/** Opens a shell of a sandbox on this terminal. @throws EndWith its exit code; CliFailure */
export async function openShell(
  parts: CliParts,
  sandboxID: string,
  { user, workdir }: { readonly user?: string; readonly workdir?: string },
): Promise<never> {
  requireTerminal(parts)
  const daemon = await openDaemon(parts, sandboxID, user)
  const shell = { cmd: '/bin/sh', args: ['-c', SHELL], ...(workdir !== undefined && { cwd: workdir }) }
  throw new EndWith(shellExitCode(await runInTerminal(parts, daemon, shell)))
}
