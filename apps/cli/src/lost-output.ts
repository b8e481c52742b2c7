import { EXIT } from './exit-codes.ts'

/** Commands that change nothing by themselves: when nobody reads their output any more, there is nothing left to do. */
const READING: ReadonlySet<string> = new Set([
  'completion',
  'connect',
  'doctor',
  'env',
  'exec',
  'info',
  'logs',
  'ls',
  'status',
  'upgrade',
  'version',
])

export interface LostOutput {
  /** The code to end with after `exitCode`: that of a failure when data did not reach stdout. */
  exitCodeAfter(exitCode: number): number
}

interface Watched {
  /** Of the command line, without the program. */
  readonly args: readonly string[]
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly exit: (code: number) => void
}

/**
 * Decides what a failed write to an output does. Words on stderr may be lost. A reader of stdout that has seen enough, as `head`, ends a
 * command that only reads, with success; a full disk ends it with a failure. A command that changes something goes on to its end, and then
 * fails.
 */
export function watchOutputs({ args, stdout, stderr, exit }: Watched): LostOutput {
  let isLost = false
  stderr.on('error', () => undefined)
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    isLost = true
    if (isReading(args)) exit(code === 'EPIPE' ? EXIT.done : EXIT.failed)
  })
  return { exitCodeAfter: (exitCode) => (isLost && exitCode === EXIT.done ? EXIT.failed : exitCode) }
}

function isReading(args: readonly string[]): boolean {
  const command = args.find((arg) => !arg.startsWith('-'))
  return command === undefined || (READING.has(command) && !args.includes('--fix'))
}
