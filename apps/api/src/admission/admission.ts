import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { AdmissionMetrics } from '../metrics/admission-metrics.ts'
import type { AdmissionConfig } from './admission-config.ts'
import { HostRoom, type Reservation, type Shortage } from './host-room.ts'
import { WaitingRoom, type Refusal } from './waiting-room.ts'

export interface AdmissionParts {
  readonly config: AdmissionConfig
  readonly runtime: Pick<SandboxRuntime, 'vitals' | 'host'>
  readonly metrics: AdmissionMetrics
  readonly log: Logger
}

/** A start from files. */
export interface AdmissionRequest {
  /** Teams get their turns one after the other. */
  readonly teamId: string
  /** The limit of the sandbox. */
  readonly memoryMib: number
}

interface Start {
  readonly bytes: number
  /** Set with the turn. */
  reserved?: Reservation
}

export interface Turn {
  /** Gives the turn to the next start. The memory stays reserved until the end of the start. */
  end(): void
}

/** Ten at once took as long with any smaller width: it bounds the work of the engine, it makes nothing faster. */
const WIDTH_PER_PROCESSOR = 8
/** Less than the 50 s that a create may take, so that a start that gets its turn late has time. */
const TURN_WAIT_MS = 30_000
/** A start that hangs in the engine keeps its turn no longer, so that it delays no other. */
const TURN_MS = 10_000
/** What a sandbox and its start command use until a reading of the host contains it; a smaller sandbox reserves its limit. */
const START_MEMORY_MIB = 128
const MIB = 1024 ** 2

const REASONS: Readonly<Record<Refusal, string>> = {
  memory: 'The host is short of memory.',
  disk: 'The disk of the Docker engine is full.',
  room: 'Too many sandboxes wait for their start.',
  turn: 'Too many sandboxes start before this one.',
}

/**
 * Decides when a sandbox may start: at most so many at once, and only while the host has memory and disk for it. What does not fit waits in a
 * bounded room that is fair between teams. Each server decides for its own starts, by what the host really has.
 */
export class Admission {
  readonly #host: HostRoom
  readonly #room: WaitingRoom<Start>
  readonly #width: number
  readonly #parts: AdmissionParts
  readonly #listeners = new Set<(shortage: Shortage) => void>()

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    const { config, runtime, metrics } = parts
    const { processors, memoryBytes } = runtime.host()
    const host = new HostRoom({ ...config, memoryBytes, vitals: (signal) => runtime.vitals(signal) })
    this.#host = host
    this.#width = config.width ?? WIDTH_PER_PROCESSOR * processors
    this.#room = new WaitingRoom<Start>({
      width: this.#width,
      places: config.places,
      placesPerOwner: Math.ceil(config.places / 2),
      turnWaitMs: TURN_WAIT_MS,
      shortageWaitMs: config.shortageWaitMs,
      shortageOf: ({ bytes }) => host.shortageOf(bytes),
      onTurn: (start) => {
        start.reserved = host.reserve(start.bytes)
      },
      onShortage: (shortage) => this.#tell(shortage),
      onRefused: (why) => {
        metrics.refused.inc({ reason: why })
        return new AppError('resource_exhausted', REASONS[why], { reason: why })
      },
    })
    metrics.observe(() => ({ waiting: this.#room.waiting, busy: this.#room.busy, reservedBytes: host.reservedBytes }))
  }

  /**
   * Calls `listener` four times a second while a start waits because the host is short of something. A listener that frees memory, as by ending
   * sandboxes that nobody uses yet, lets the start go on.
   */
  onShortage(listener: (shortage: Shortage) => void): void {
    this.#listeners.add(listener)
  }

  /** Whether so many starts of this size would get their turns at once. For work that can be left for later. */
  async hasRoom(memoryMib: number, starts = 1): Promise<boolean> {
    if (this.#room.waiting > 0 || this.#room.busy + starts > this.#width) return false
    return (await this.#host.shortageOf(starts * neededBytes(memoryMib))) === undefined
  }

  /** Reserves the memory of a start that takes no turn. */
  reserve(memoryMib: number): Reservation {
    return this.#host.reserve(neededBytes(memoryMib))
  }

  /** Whether the host has memory for one more start, as that of a build, which waits in its own queue. While it has not, listeners hear of it. */
  async hasMemory(): Promise<boolean> {
    const isShort = (await this.#host.shortageOf(START_MEMORY_MIB * MIB)) === 'memory'
    if (isShort) this.#tell('memory')
    return !isShort
  }

  /**
   * Runs the start of a sandbox when it has a turn and the host has room.
   *
   * @throws AppError `resource_exhausted` when it was not begun: the room is full, or it has waited too long; the abort reason; the errors of `start`
   */
  async run<T>({ teamId, memoryMib }: AdmissionRequest, signal: AbortSignal, start: (turn: Turn) => Promise<T>): Promise<T> {
    const waiting: Start = { bytes: neededBytes(memoryMib) }
    const { metrics } = this.#parts
    const began = performance.now()
    const end = await this.#room.enter(teamId, waiting, signal)
    metrics.admitted.observe((performance.now() - began) / 1000)
    const late = setTimeout(end, TURN_MS)
    try {
      return await start({ end })
    } finally {
      clearTimeout(late)
      end()
      waiting.reserved?.release()
    }
  }

  #tell(shortage: Shortage): void {
    for (const listener of this.#listeners) {
      try {
        listener(shortage)
      } catch (err) {
        this.#parts.log.error({ err }, 'a listener of shortages failed')
      }
    }
  }
}

function neededBytes(memoryMib: number): number {
  return Math.min(memoryMib, START_MEMORY_MIB) * MIB
}
