import { setTimeout as delay } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { ProxyProcess, type ProxyEnded, type ProxyProcessOptions } from './proxy-process.ts'

export interface SupervisorOptions extends ProxyProcessOptions {
  readonly log: Logger
  readonly registry: Registry
  /** How long a proxy may take to stop before it is killed. */
  readonly graceMs: number
  /** How long a proxy may fail to answer before it is killed and started again. */
  readonly silenceMs?: number
}

const FIRST_BACKOFF_MS = 100
const LAST_BACKOFF_MS = 5000
/** After this time a proxy counts as healthy, and the back-off starts again from the first step. */
const HEALTHY_MS = 30_000
const START_TIMEOUT_MS = 60_000
const METRICS_TIMEOUT_MS = 2000
const DEFAULT_SILENCE_MS = 30_000

/** Keeps one proxy process running, always on the port of the first one. */
export class ProxySupervisor implements AsyncDisposable {
  readonly port: number
  readonly #options: SupervisorOptions
  readonly #stopping = new AbortController()
  readonly #restarts: Counter
  readonly #up: Gauge
  readonly #asked = new SingleFlight<'metrics', string>()
  readonly #kept: Promise<void>
  #current: ProxyProcess
  #apiUrl: string | undefined

  private constructor(options: SupervisorOptions, first: ProxyProcess, port: number) {
    this.#options = options
    this.#current = first
    this.port = port
    this.#restarts = new Counter({
      name: 'sandyard_proxy_restarts_total',
      help: 'How often the proxy process ended and was started again.',
      registers: [options.registry],
    })
    this.#up = new Gauge({
      name: 'sandyard_proxy_up',
      help: 'Whether the proxy process answered the last request for its metrics.',
      registers: [options.registry],
    })
    this.#kept = this.#keep()
  }

  /** @throws ProxyEnded when the proxy cannot be started */
  static async start(options: SupervisorOptions): Promise<ProxySupervisor> {
    const first = new ProxyProcess(options)
    return new ProxySupervisor(options, first, await untilListening(first))
  }

  /** The current process, or the last one. */
  get pid(): number | undefined {
    return this.#current.pid
  }

  /** The proxy's own metrics; empty when it does not answer within two seconds. Concurrent calls share one request. */
  metrics(): Promise<string> {
    return this.#asked.run('metrics', async () => {
      const page = await this.#current.metrics(METRICS_TIMEOUT_MS)
      this.#up.set(page === undefined ? 0 : 1)
      return page ?? ''
    })
  }

  /** Tells the proxy, and those that replace it, where the control plane is. */
  useApi(url: string): void {
    this.#apiUrl = url
    this.#current.useApi(url)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#current.stop(this.#options.graceMs)
    await this.#kept
  }

  async #keep(): Promise<void> {
    const { log } = this.#options
    let backoffMs = FIRST_BACKOFF_MS
    while (true) {
      const startedAt = performance.now()
      const reason = await this.#untilEnded()
      if (this.#stopping.signal.aborted) return
      if (performance.now() - startedAt >= HEALTHY_MS) backoffMs = FIRST_BACKOFF_MS
      log.error({ reason: reason.message, code: reason.code, restartInMs: backoffMs }, 'the proxy ended and is started again')
      await delay(backoffMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      if (this.#stopping.signal.aborted) return
      backoffMs = Math.min(backoffMs * 2, LAST_BACKOFF_MS)
      this.#restarts.inc()
      this.#current = new ProxyProcess({ ...this.#options, environment: this.#environmentOfNext() })
    }
  }

  #environmentOfNext(): Environment {
    const { environment } = this.#options
    const api = this.#apiUrl === undefined ? {} : { SANDYARD_API_INTERNAL_URL: this.#apiUrl }
    return { ...environment, ...api, SANDYARD_PROXY_PORT: String(this.port) }
  }

  /** Waits for the end of the current process. Kills it when it does not start or does not answer for too long. */
  async #untilEnded(): Promise<ProxyEnded> {
    const proxy = this.#current
    const { silenceMs = DEFAULT_SILENCE_MS, log } = this.#options
    const ended = new AbortController()
    const watch = async (): Promise<void> => {
      await untilListening(proxy)
      while (!ended.signal.aborted) {
        await delay(silenceMs / 3, undefined, { signal: ended.signal })
        if ((await proxy.metrics(silenceMs)) !== undefined || ended.signal.aborted) continue
        log.error({ pid: proxy.pid, silenceMs }, 'the proxy does not answer and is killed')
        proxy.kill()
        return
      }
    }
    // It ends by the abort, or because the process has ended.
    watch().catch(() => undefined)
    try {
      return await proxy.ended
    } finally {
      ended.abort()
    }
  }
}

async function untilListening(proxy: ProxyProcess): Promise<number> {
  const timer = setTimeout(() => proxy.kill(), START_TIMEOUT_MS)
  try {
    return await proxy.listening
  } finally {
    clearTimeout(timer)
  }
}
