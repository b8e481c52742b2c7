import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { HostCheck } from '@sandyard/dashboard-contract/host'
import { within } from '@sandyard/kit/async/within'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { AppError } from '@sandyard/kit/errors/app-error'
import { readDoctorReport } from './doctor-report.ts'

export interface DoctorRun {
  /** Those of this server: the checks compare its settings with the machine. */
  readonly environment: Environment
  readonly isDeep: boolean
  readonly signal: AbortSignal
}

/** The command line of this checkout, or of this image. */
const PROGRAM = join(import.meta.dirname, '../../../../cli/src/main.ts')
const END_WITH_PARENT = import.meta.resolve('./end-with-parent.ts')
const HEAP_MIB = 256
/** A check takes at most 90 s, a deep one 240 s; six run at once. */
const [TIMEOUT_MS, DEEP_TIMEOUT_MS] = [5 * 60_000, 15 * 60_000]
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 5000
const MAX_OUTPUT_BYTES = 1024 ** 2
const MAX_WORDS_BYTES = 4096
/** 7: a check failed. */
const EXIT_CODES = [0, 7]

/**
 * Runs `sandyard doctor` as a child process, which ends with this one.
 *
 * @throws AppError `unavailable` with the sentence of the command, `deadline_exceeded`; the abort reason
 */
export function runDoctor({ environment, isDeep, signal }: DoctorRun): Promise<readonly Omit<HostCheck, 'dismissedUntil'>[]> {
  const timeoutMs = isDeep ? DEEP_TIMEOUT_MS : TIMEOUT_MS
  return within({ what: 'A run of the checks', timeoutMs, graceMs: GRACE_MS * 2, signal }, async (ending) => {
    ending.throwIfAborted()
    const args = ['--json', 'doctor', ...(isDeep ? ['--deep'] : [])]
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, '--import', END_WITH_PARENT, PROGRAM, ...args], {
      env: { ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    const { code, output, words } = await resultOf(child, ending)
    ending.throwIfAborted()
    if (output === undefined) throw new AppError('unavailable', `The checks wrote more than ${MAX_OUTPUT_BYTES} bytes`)
    if (code === null || !EXIT_CODES.includes(code)) throw new AppError('unavailable', sentenceOf(words, code))
    return readDoctorReport(output)
  })
}

interface ChildResult {
  /** Null: a signal ended it. */
  readonly code: number | null
  /** Undefined: more than is taken. */
  readonly output: string | undefined
  readonly words: string
}

/** Waits for the end of a process, which gets SIGTERM at the signal or when it writes too much, and SIGKILL after that. */
async function resultOf(child: ChildProcess, signal: AbortSignal): Promise<ChildResult> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject).once('close', resolve)
  const output: Buffer[] = []
  let [bytes, words] = [0, '']
  let killing: NodeJS.Timeout | undefined
  const end = (): void => {
    if (killing !== undefined) return
    child.kill('SIGTERM')
    killing = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_OUTPUT_BYTES) end()
    else output.push(chunk)
  })
  child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString('utf8')).slice(-MAX_WORDS_BYTES)))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    const code = await promise
    return { code, output: bytes > MAX_OUTPUT_BYTES ? undefined : Buffer.concat(output).toString('utf8'), words }
  } finally {
    clearTimeout(killing)
    signal.removeEventListener('abort', end)
  }
}

/** Its last line is for a person. */
function sentenceOf(words: string, code: number | null): string {
  const last =
    words
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^sandyard: /, '') ?? ''
  return last === '' ? `The command ended with ${code === null ? 'a signal' : `the exit code ${code}`}` : last
}
