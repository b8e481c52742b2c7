import { setTimeout as delay } from 'node:timers/promises'
import type { Counter, Gauge, Registry } from 'prom-client'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { createChildMetrics } from './child-metrics.ts'
import { ChildProgram, type ChildEnded, type ChildOptions } from './child-program.ts'

export interface SupervisorOptions extends ChildOptions {
  readonly log: Logger
  readonly registry: Registry
  /** How long it may take to stop before it is killed. */
  readonly graceMs: number
  /** How long it may fail to answer before it is killed and started again. */
  readonly silenceMs?: number
}

const FIRST_BACKOFF_MS = 100
const LAST_BACKOFF_MS = 5000
/** After this time a process counts as healthy, and the back-off starts again from the first step. */
const HEALTHY_MS = 30_000
const START_TIMEOUT_MS = 60_000
const METRICS_TIMEOUT_MS = 2000
const DEFAULT_SILENCE_MS = 30_000

/** Keeps one process of a program running, always on the port of the first one. */
export class ChildSupervisor implements AsyncDisposable {
  readonly port: number
  readonly #options: SupervisorOptions
  readonly #stopping = new AbortController()
  readonly #restarts: Counter
  readonly #up: Gauge
  readonly #asked = new SingleFlight<'metrics', string>()
  readonly #kept: Promise<void>
  #current: ChildProgram
  #told: Readonly<Record<string, string>> = {}

  private constructor(options: SupervisorOptions, first: ChildProgram, port: number) {
    this.#options = options
    this.#current = first
    this.port = port
    const { restarts, up } = createChildMetrics(options.registry, options.program)
    this.#restarts = restarts
    this.#up = up
    this.#kept = this.#keep()
  }

  /** @throws ChildEnded when the program cannot be started */
  static async start(options: SupervisorOptions): Promise<ChildSupervisor> {
    const first = new ChildProgram(options)
    return new ChildSupervisor(options, first, await untilListening(first))
  }

  /** The current process, or the last one. */
  get pid(): number | undefined {
    return this.#current.pid
  }

  /** Its own metrics; empty when it does not answer within two seconds. Concurrent calls share one request. */
  metrics(): Promise<string> {
    return this.#asked.run('metrics', async () => {
      const page = await this.#current.metrics(METRICS_TIMEOUT_MS)
      this.#up.set(page === undefined ? 0 : 1)
      return page ?? ''
    })
  }

  /** Tells the process, and those that replace it, settings that were not known at the start. */
  tell(settings: Readonly<Record<string, string>>): void {
    this.#told = { ...this.#told, ...settings }
    this.#current.tell(settings)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#current.stop(this.#options.graceMs)
    await this.#kept
  }

  async #keep(): Promise<void> {
    const { log, program } = this.#options
    let backoffMs = FIRST_BACKOFF_MS
    while (true) {
      const startedAt = performance.now()
      const reason = await this.#untilEnded()
      if (this.#stopping.signal.aborted) return
      if (performance.now() - startedAt >= HEALTHY_MS) backoffMs = FIRST_BACKOFF_MS
      log.error({ reason: reason.message, code: reason.code, restartInMs: backoffMs }, `${program.title} ended and is started again`)
      await delay(backoffMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      if (this.#stopping.signal.aborted) return
      backoffMs = Math.min(backoffMs * 2, LAST_BACKOFF_MS)
      this.#restarts.inc()
      this.#current = new ChildProgram({ ...this.#options, environment: this.#environmentOfNext() })
    }
  }

  #environmentOfNext(): Environment {
    const { environment, program } = this.#options
    return { ...environment, ...this.#told, [program.portSetting]: String(this.port) }
  }

  /** Waits for the end of the current process. Kills it when it does not start or does not answer for too long. */
  async #untilEnded(): Promise<ChildEnded> {
    const child = this.#current
    const { silenceMs = DEFAULT_SILENCE_MS, log, program } = this.#options
    const ended = new AbortController()
    const watch = async (): Promise<void> => {
      await untilListening(child)
      while (!ended.signal.aborted) {
        await delay(silenceMs / 3, undefined, { signal: ended.signal })
        if ((await child.metrics(silenceMs)) !== undefined || ended.signal.aborted) continue
        log.error({ pid: child.pid, silenceMs }, `${program.title} does not answer and is killed`)
        child.kill()
        return
      }
    }
    // It ends by the abort, or because the process has ended.
    watch().catch(() => undefined)
    try {
      return await child.ended
    } finally {
      ended.abort()
    }
  }
}

async function untilListening(child: ChildProgram): Promise<number> {
  const timer = setTimeout(() => child.kill(), START_TIMEOUT_MS)
  try {
    return await child.listening
  } finally {
    clearTimeout(timer)
  }
}
