import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
// oxlint-disable-next-line node/no-process-env -- the programs of this machine
const { PATH } = process.env
const READY_TIMEOUT_MS = 120_000

/** The control plane as a program of its own, on free ports. */
export class ApiProgram {
  readonly #child: ChildProcess
  readonly #dataDir: string
  #stdout = ''
  #stderr = ''

  constructor(environment: NodeJS.ProcessEnv, dataDir: string) {
    this.#dataDir = dataDir
    this.#child = spawn(process.execPath, [MAIN], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, ...COMPILED_MODULES, SANDYARD_API_PORT: '0', SANDYARD_METRICS_PORT: '0', SANDYARD_DATA_DIR: dataDir, ...environment },
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (this.#stdout += chunk))
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.#stderr += chunk))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** JSON lines. */
  get log(): string {
    return this.#stdout
  }

  get errors(): string {
    return this.#stderr
  }

  get apiKey(): string {
    return /^E2B_API_KEY=(\S+)$/m.exec(readFileSync(join(this.#dataDir, 'credentials'), 'utf8'))?.[1] ?? ''
  }

  /** Its ports, once it listens. */
  listening(): Promise<{ readonly port: number; readonly metricsPort: number }> {
    return pollUntil({ what: `the program: ${this.#stderr}`, timeoutMs: READY_TIMEOUT_MS, everyMs: 20 }, () => {
      const line = this.#stdout.split('\n').find((text) => text.includes('"msg":"listening"'))
      if (line !== undefined) return JSON.parse(line) as { port: number; metricsPort: number }
      if (this.#child.exitCode !== null) throw new Error(`the program ended: ${this.#stdout}${this.#stderr}`)
      return undefined
    })
  }

  async ended(signal?: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exit = once(this.#child, 'exit')
      if (signal !== undefined) this.#child.kill(signal)
      await exit
    }
    return this.#child.exitCode
  }
}
