import { Histogram, type Registry } from 'prom-client'
import { inSpan } from '@sandyard/kit/tracing/span'

/** `create` goes from the reservation to the state `running`. `kill` is the removal from the engine, whatever the sandbox ended for. */
const OPERATIONS = ['create', 'resume', 'pause', 'snapshot', 'kill'] as const
type SandboxOperation = (typeof OPERATIONS)[number]

/**
 * The parts of a create, in order. `claim` hands a sandbox of the warm pool over; without one `runtime` is the engine, `daemon` the first answer of
 * the daemon. `commit` is the row.
 */
const PHASES = ['reserve', 'claim', 'runtime', 'daemon', 'start_command', 'commit'] as const
type CreatePhase = (typeof PHASES)[number]

/** Seconds. A create takes between 50 ms and its deadline of 50 s. */
const BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60]

/** How long operations on sandboxes take in this server. */
export class SandboxTimings {
  readonly #operations: Histogram<'operation' | 'outcome'>
  readonly #phases: Histogram<'phase'>
  readonly #creates = { done: 0, failed: 0 }

  constructor(registry: Registry) {
    this.#operations = new Histogram({
      name: 'sandyard_sandbox_operation_seconds',
      help: 'Time of operations on sandboxes, by outcome (done, failed). Requests that were refused before the operation began do not count.',
      labelNames: ['operation', 'outcome'],
      buckets: BUCKETS,
      registers: [registry],
    })
    this.#phases = new Histogram({
      name: 'sandyard_sandbox_create_phase_seconds',
      help: 'Time of the phases of creates: reserve, claim, runtime, daemon, start_command, commit. Only phases that ended without a failure.',
      labelNames: ['phase'],
      buckets: BUCKETS,
      registers: [registry],
    })
    // A rate sees the first event only if the series was there before.
    for (const operation of OPERATIONS) for (const outcome of ['done', 'failed']) this.#operations.zero({ operation, outcome })
    for (const phase of PHASES) this.#phases.zero({ phase })
  }

  /** The creates that have ended since the server started. */
  get creates(): { readonly done: number; readonly failed: number } {
    return this.#creates
  }

  /** Measures `work`; passes on its result or its error. */
  async time<T>(operation: SandboxOperation, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      const result = await work()
      this.#observe(operation, 'done', began)
      return result
    } catch (err) {
      this.#observe(operation, 'failed', began)
      throw err
    }
  }

  #observe(operation: SandboxOperation, outcome: 'done' | 'failed', began: number): void {
    this.#operations.observe({ operation, outcome }, secondsSince(began))
    if (operation === 'create') this.#creates[outcome] += 1
  }

  /** Measures `work`, which is a span of its request too. */
  async timePhase<T>(phase: CreatePhase, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const result = await inSpan(phase, {}, work)
    this.phase(phase, performance.now() - began)
    return result
  }

  phase(phase: CreatePhase, ms: number): void {
    this.#phases.observe({ phase }, ms / 1000)
  }
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000
}
