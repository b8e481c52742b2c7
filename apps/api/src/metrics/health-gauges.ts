import { Counter, Gauge, type Registry } from 'prom-client'
import { within } from '@sandyard/kit/async/within'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { RuntimeVitals } from '@sandyard/runtime/types'
import type { ReadyChecks } from '../http/ready-checks.ts'

const TIMEOUT_MS = 3000

interface HealthParts {
  readonly ready: Pick<ReadyChecks, 'check'>
  readonly runtime: Pick<SandboxRuntime, 'vitals'>
}

/** Whether this server is ready, as `GET /ready` says it, and the state of its engine. Read at each scrape. */
export function registerHealthGauges(registry: Registry, { ready, runtime }: HealthParts): void {
  const isReady: Gauge = new Gauge({
    name: 'sandyard_api_ready',
    help: 'Whether this server answers requests: 1 as long as GET /ready is 200.',
    registers: [registry],
    collect: async () => isReady.set((await ready.check()).ready ? 1 : 0),
  })
  const engineUp: Gauge = new Gauge({
    name: 'sandyard_engine_up',
    help: 'Whether the engine answers this server.',
    registers: [registry],
    collect: async () => engineUp.set((await ready.check()).runtime ? 1 : 0),
  })
  const size = new Gauge({
    name: 'sandyard_engine_disk_size_bytes',
    help: 'Size of the disk with the files of the engine. No value while it is not known.',
    registers: [registry],
    collect: () => read(),
  })
  const free = new Gauge({
    name: 'sandyard_engine_disk_free_bytes',
    help: 'Free bytes of that disk.',
    registers: [registry],
    collect: () => read(),
  })
  const memory = new Gauge({
    name: 'sandyard_engine_memory_total_bytes',
    help: 'Memory of the host of the engine. No value while it is not known.',
    registers: [registry],
    collect: () => read(),
  })
  const available = new Gauge({
    name: 'sandyard_engine_memory_available_bytes',
    help: 'Memory of that host that processes can still get.',
    registers: [registry],
    collect: () => read(),
  })
  const guards = new Counter({
    name: 'sandyard_egress_guard_restarts_total',
    help: 'How often the egress guard ended and was started again.',
    registers: [registry],
    collect: () => read(),
  })
  let reading: Promise<void> | undefined
  /** The metrics of one scrape share a read. */
  function read(): Promise<void> {
    reading ??= readVitals(runtime)
      .then((vitals) => {
        for (const gauge of [size, free, memory, available]) gauge.remove()
        if (vitals?.disk !== undefined) {
          size.set(vitals.disk.sizeBytes)
          free.set(vitals.disk.freeBytes)
        }
        if (vitals?.memory !== undefined) {
          memory.set(vitals.memory.totalBytes)
          available.set(vitals.memory.availableBytes)
        }
        if (vitals === undefined) return
        guards.reset()
        guards.inc(vitals.guardRestarts)
      })
      .finally(() => (reading = undefined))
    return reading
  }
}

function readVitals(runtime: HealthParts['runtime']): Promise<RuntimeVitals | undefined> {
  return within({ what: 'the read of the state of the engine', timeoutMs: TIMEOUT_MS }, (signal) => runtime.vitals(signal)).catch(
    () => undefined,
  )
}
