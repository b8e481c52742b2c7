import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { pollUntil } from '../../../../packages/kit/src/async/poll-until.ts'
import { COMPILED_MODULES } from '../../../../packages/test-kit/src/compiled-modules.ts'
import type { Part, PartKind } from './part.ts'

export interface ProgramOptions {
  readonly kind: PartKind
  readonly name: string
  /** The file that Node runs. */
  readonly main: string
  readonly environment: Readonly<Record<string, string>>
  readonly logFile: string
  /** Whether it serves. Called until it is true. */
  readonly isReady: () => Promise<boolean>
}

const READY_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 60_000

/** One of our programs, as a process that a service manager would restart. */
export class ProgramPart implements Part, AsyncDisposable {
  readonly kind: PartKind
  readonly name: string
  readonly #options: ProgramOptions
  readonly #changed: Record<string, string> = {}
  #child: ChildProcess | undefined

  constructor(options: ProgramOptions) {
    this.kind = options.kind
    this.name = options.name
    this.#options = options
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** For the next start. */
  set(setting: string, value: string): void {
    this.#changed[setting] = value
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async restart(): Promise<void> {
    const { name, main, environment, logFile, isReady } = this.#options
    const log = openSync(logFile, 'a')
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env['PATH'], ...COMPILED_MODULES, ...environment, ...this.#changed },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#child = child
    await pollUntil({ what: `${name} (${logFile})`, timeoutMs: READY_TIMEOUT_MS, everyMs: 50 }, async () => {
      if (hasEnded(child)) throw new Error(`${name} ended: ${readFileSync(logFile, 'utf8').slice(-2000)}`)
      return (await isReady()) ? true : undefined
    })
  }

  /** Stops it in order. Returns its exit code; null after a kill. */
  async stop(): Promise<number | null> {
    const late = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await this.#end('SIGTERM')
    clearTimeout(late)
    return this.#child?.exitCode ?? null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGKILL')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === undefined || hasEnded(child)) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
