import type { CliParts } from '../cli-parts.ts'
import { EndWith } from '../fail.ts'
import { shellExitCode, type ProcessEnd } from './exit-status.ts'
import { followProcess } from './follow-process.ts'
import { openDaemon, type Daemon } from './open-daemon.ts'
import { ProcessInput } from './process-input.ts'
import { requireTerminal, runInTerminal, type TerminalProcess } from './run-in-terminal.ts'
import { writeOut } from './write-out.ts'

export interface CommandOptions {
  readonly user?: string
  readonly workdir?: string
  readonly env?: Readonly<Record<string, string>>
  readonly tty?: boolean
  readonly stdin: boolean
}

/** Runs a command in a sandbox with the input and the outputs of this process. @throws EndWith its exit code; CliFailure */
export async function runCommand(
  parts: CliParts,
  { sandboxID, command: [cmd = '', ...args] }: { readonly sandboxID: string; readonly command: readonly string[] },
  { user, workdir, env = {}, tty = false, stdin }: CommandOptions,
): Promise<never> {
  if (tty) requireTerminal(parts)
  const daemon = await openDaemon(parts, sandboxID, user)
  const process = { cmd, args, envs: env, ...(workdir !== undefined && { cwd: workdir }) }
  const end = tty ? await runInTerminal(parts, daemon, process) : await runWithPipes(parts, daemon, { ...process, stdin })
  throw new EndWith(shellExitCode(end))
}

async function runWithPipes(
  parts: CliParts,
  daemon: Daemon,
  { cmd, args, cwd, envs, stdin }: TerminalProcess & { readonly stdin: boolean },
): Promise<ProcessEnd> {
  const { output } = parts
  const request = {
    process: { cmd, args: [...args], envs: { ...envs }, ...(cwd !== undefined && { cwd }) },
    stdin,
  }
  return followProcess(parts, daemon, {
    request,
    onStart: (pid) => {
      if (stdin) void passInput(parts, new ProcessInput(daemon, pid, 'stdin'))
    },
    onOutput: (bytes, stream) => writeOut(stream === 'stderr' ? output.stderr : output.stdout, bytes),
  })
}

/** Until the end of the input, or until the process takes no more. */
async function passInput({ stdin }: CliParts, input: ProcessInput): Promise<void> {
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) if (!(await input.send(chunk))) return
    await input.close()
  } catch {
    // The input cannot be read, as when the terminal is gone: to the process it has ended.
    await input.close()
  }
}
