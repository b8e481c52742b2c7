import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Refusal } from '../admission/waiting-room.ts'

export interface AdmissionState {
  readonly waiting: number
  readonly busy: number
  readonly reservedBytes: number
}

const REFUSALS: readonly Refusal[] = ['memory', 'disk', 'room', 'turn']
const SECONDS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30]

/** How this server lets sandboxes start. */
export class AdmissionMetrics {
  /** Its count is the number of admitted starts. */
  readonly admitted: Histogram
  readonly refused: Counter<'reason'>
  #state: () => AdmissionState = () => ({ waiting: 0, busy: 0, reservedBytes: 0 })

  constructor(registry: Registry) {
    const registers = [registry]
    this.admitted = new Histogram({
      name: 'sandyard_start_wait_seconds',
      help: 'How long starts of sandboxes waited for their turn in this server; refused ones do not count.',
      buckets: SECONDS,
      registers,
    })
    this.refused = new Counter({
      name: 'sandyard_starts_refused_total',
      help: 'Starts that this server refused with 503, by what was missing: memory, disk, a place to wait (room), a turn in time (turn).',
      labelNames: ['reason'],
      registers,
    })
    for (const reason of REFUSALS) this.refused.inc({ reason }, 0)
    const gauge = (name: string, help: string, read: (state: AdmissionState) => number): void => {
      const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read(this.#state())) })
    }
    gauge('sandyard_starts_waiting', 'Starts that wait in this server for their turn, for memory or for disk.', ({ waiting }) => waiting)
    gauge('sandyard_starts_in_flight', 'Starts of this server that the engine works on.', ({ busy }) => busy)
    gauge(
      'sandyard_start_memory_reserved_bytes',
      'Memory that starts in flight have reserved in this server.',
      (state) => state.reservedBytes,
    )
  }

  /** Sets where the gauges are read. */
  observe(state: () => AdmissionState): void {
    this.#state = state
  }
}
