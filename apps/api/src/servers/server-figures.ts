import type { ServerVitals } from '@sandyard/db/schema/server'
import { within } from '@sandyard/kit/async/within'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { processorPercent, readCommit, readHugePages, readMachine, readProcessorTimes } from './host-facts.ts'

const READ_EVERY_MS = 3000
const TIMEOUT_MS = 3000

export interface FigureParts {
  readonly runtime: Pick<SandboxRuntime, 'vitals'>
  /** The creates that have ended since the server started. */
  readonly creates: () => { readonly done: number; readonly failed: number }
  readonly log: Logger
}

/** The figures of this server and its host for its row. They are read apart from the heartbeat, which an engine that hangs must not delay. */
export class ServerFigures implements AsyncDisposable {
  readonly #parts: FigureParts
  readonly #lasting: Pick<ServerVitals, 'commit' | 'machine'>
  readonly #reading: Loop
  #processors = readProcessorTimes()
  #read: Omit<ServerVitals, 'commit' | 'machine' | 'creates'> = {}

  constructor(parts: FigureParts) {
    this.#parts = parts
    const commit = readCommit()
    this.#lasting = { machine: readMachine(), ...(commit !== undefined && { commit }) }
    this.#reading = runLoop({ name: 'server figures', everyMs: READ_EVERY_MS, log: parts.log }, () => this.#refresh())
  }

  get current(): ServerVitals {
    const { done: succeeded, failed } = this.#parts.creates()
    return { ...this.#lasting, ...this.#read, creates: { succeeded, failed } }
  }

  async #refresh(): Promise<void> {
    const { runtime } = this.#parts
    const processors = readProcessorTimes()
    const cpuPercent = processorPercent(this.#processors, processors)
    this.#processors = processors
    const hugePages = await readHugePages()
    const host = { ...(cpuPercent !== undefined && { cpuPercent }), ...(hugePages !== undefined && { hugePages }) }
    const engine = within({ what: 'the state of the engine', timeoutMs: TIMEOUT_MS }, (signal) => runtime.vitals(signal))
    // Without an answer of the engine its figures are not known; readiness reports it.
    const { disk, memory } = await engine.catch(() => ({ disk: undefined, memory: undefined }))
    this.#read = {
      ...host,
      ...(disk !== undefined && { disk: { usedBytes: disk.sizeBytes - disk.freeBytes, totalBytes: disk.sizeBytes } }),
      ...(memory !== undefined && { memory: { usedBytes: memory.totalBytes - memory.availableBytes, totalBytes: memory.totalBytes } }),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading.stop()
  }
}
