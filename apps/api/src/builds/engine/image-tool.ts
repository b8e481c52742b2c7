import type { LogLevel } from '@sandyard/db/schema/build-log'
import type { Daemon } from '../../daemon/daemon.ts'
import { OutputLines } from '../../daemon/output-lines.ts'
import { startProcess } from '../../daemon/start-process.ts'
import { BuildFailure } from '../build-failure.ts'
import type { StepName } from '../build-runner.ts'
import type { Attempt } from './attempt.ts'

/** The commands of the tool in every sandbox, with their arguments. */
export interface ImageToolCommands {
  readonly provision: { readonly user: string; readonly installPackages: boolean }
  readonly 'add-user': { readonly name: string; readonly sudo: boolean }
  readonly 'make-directory': { readonly path: string; readonly user: string }
  readonly copy: {
    /** The tool removes it. */
    readonly archive: string
    readonly source: string
    readonly destination: string
    readonly workdir: string | null
    readonly user: string
    readonly owner: string
    readonly mode: string
    readonly maxUnpackedBytes: number
    readonly maxEntries: number
  }
  readonly finalize: { readonly user: string }
}

export interface ToolOptions {
  readonly step: StepName
  /** Prefix of its lines in the log. */
  readonly prefix: string
  readonly timeoutMs: number
}

const WARNING = /^warning: /

/**
 * Runs the image tool as root. Its output is logged at level debug, its warnings at level warn.
 *
 * @throws BuildFailure with the message of the tool; DaemonCallError, with `deadline_exceeded` after `timeoutMs`
 */
export async function runImageTool<C extends keyof ImageToolCommands>(
  attempt: Attempt,
  daemon: Daemon,
  call: ToolOptions & { readonly command: C; readonly args: ImageToolCommands[C] },
): Promise<void> {
  const { command, args, step, prefix, timeoutMs } = call
  const [cmd = '', ...before] = attempt.parts.runtime.imageTool
  const errors: string[] = []
  const write = (level: LogLevel, message: string): void => attempt.job.log.write({ level, message, step })
  const lines = {
    stdout: new OutputLines((line) => {
      if (WARNING.test(line)) write('warn', line.replace(WARNING, ''))
      else write('debug', `${prefix} [stdout]: ${line}`)
    }),
    stderr: new OutputLines((line) => errors.push(line)),
  }
  const request = { cmd, args: [...before, command, JSON.stringify(args)], user: 'root', cwd: '/', timeoutMs }
  for await (const event of startProcess(daemon, request, attempt.signal)) {
    if (event.kind === 'output') lines[event.stream].push(event.bytes)
    if (event.kind !== 'end') continue
    lines.stdout.end()
    lines.stderr.end()
    if (event.exitCode === 0) return
    throw new BuildFailure(errors.findLast((line) => line !== '') ?? `${command}: ${event.status}`, step)
  }
}
