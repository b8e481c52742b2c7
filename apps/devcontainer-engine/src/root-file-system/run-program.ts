import { spawn } from 'node:child_process'
import { AppError } from '@sandyard/kit/errors/app-error'

export interface ProgramOptions {
  readonly environment?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly timeoutMs: number
  /** The end of what it writes to standard error becomes the message of a failure; else the user sees it as it comes. */
  readonly keepsErrors?: boolean
}

const KEPT_CHARACTERS = 4096

/** The program ends when this process does, also when that is killed: nothing goes on without its deadline. */
const ENDS_WITH_PARENT = ['--pdeathsig', 'KILL', '--']

/** Runs a program with the output of this command. @throws AppError with the program's exit code, or when its time is over */
export async function runProgram(
  words: readonly string[],
  { environment, cwd, timeoutMs, keepsErrors = false }: ProgramOptions,
): Promise<void> {
  const [program = ''] = words
  const child = spawn('setpriv', [...ENDS_WITH_PARENT, ...words], {
    stdio: ['ignore', 'inherit', keepsErrors ? 'pipe' : 'inherit'],
    env: environment,
    cwd,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const startedMs = performance.now()
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-KEPT_CHARACTERS)))
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', (cause) => reject(new AppError('internal', `${program} cannot be started: ${cause.message}`, { cause })))
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  if (code === 0) return
  if (signal === 'SIGKILL' && performance.now() - startedMs >= timeoutMs)
    throw new AppError('deadline_exceeded', `${program} took longer than ${timeoutMs / 1000} s`)
  throw new AppError('failed_precondition', errors.trim() || (code === null ? `ended by ${signal}` : `exit code ${code}`))
}

const COPY = ['cp', '-a', '--reflink=auto']
const COPY_MS = 1_800_000

/** The tree with owners, times, links and modes. Both are folders, and the content of the first one goes into the second one. */
export async function copyTree(from: string, to: string): Promise<void> {
  await runProgram([...COPY, `${from}/.`, to], { timeoutMs: COPY_MS, keepsErrors: true })
}

/** The file or tree as `to`, whose folder exists. A file or link that is there is replaced and never written through; folders are merged. */
export async function mergeTree(from: string, to: string): Promise<void> {
  await runProgram([...COPY, '-T', '--remove-destination', from, to], { timeoutMs: COPY_MS, keepsErrors: true })
}
