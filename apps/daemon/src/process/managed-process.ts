import { setImmediate } from 'node:timers/promises'
import type { ProcessConfig } from '@sandyard/daemon-protocol/process/process_pb'
import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoText } from '../sys/errno-text.ts'
import { type EndEvent, toEndEvent } from './end-event.ts'
import { OutputFanout } from './output-fanout.ts'
import { PipeStreams } from './pipe-streams.ts'
import type { ProcessStreams } from './process-streams.ts'
import type { SpawnedProcess } from './spawn.ts'
import type { OutputEvent, Subscription } from './subscription.ts'
import { TerminalStreams } from './terminal-streams.ts'

export interface ManagedProcessOptions {
  /** From the request. */
  readonly config: ProcessConfig
  readonly tag: string | undefined
  /** Time after which the process is killed and its end no longer waits for other processes that hold its output; 0 for no limit. */
  readonly lifetimeMs: number
  /** Called once, before any subscriber gets the end. */
  readonly onEnd: (process: ManagedProcess, end: EndEvent) => void
}

/** A process that the daemon started, until its end event (envd.md 8.6, 8.7). */
export class ManagedProcess {
  readonly pid: number
  readonly config: ProcessConfig
  readonly tag: string | undefined
  readonly streams: ProcessStreams
  readonly #fanout = new OutputFanout(() => this.#resume())
  readonly #cutShort = Promise.withResolvers<'cut short'>()
  /** Settles when the process has ended, was reaped, and is no longer live for clients. */
  readonly ended: Promise<void>
  readonly #lifetime: NodeJS.Timeout | undefined
  #hasExited = false

  /** Takes over the descriptors of `spawned.link`, also if it throws. */
  constructor(spawned: SpawnedProcess, { config, tag, lifetimeMs, onEnd }: ManagedProcessOptions) {
    this.pid = spawned.pid
    this.config = config
    this.tag = tag
    this.streams = toStreams(spawned, (event) => {
      this.#fanout.publish(event)
      return !this.#fanout.isStalled
    })
    this.#lifetime = lifetimeMs > 0 ? setTimeout(() => this.signal('SIGKILL'), lifetimeMs) : undefined
    this.ended = this.#watch(spawned, onEnd)
  }

  /** New events only; after the end of the process only the end event. */
  subscribe(): Subscription {
    return this.#fanout.subscribe()
  }

  /**
   * Signals this one process, not its children. From now on its end does not wait for other processes that still hold its output.
   *
   * @throws AppError `internal` when the kernel refuses
   */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#cutShort.resolve('cut short')
    // The pid may already belong to another process.
    if (this.#hasExited) return
    try {
      process.kill(this.pid, signal)
    } catch (error) {
      throw new AppError('internal', `error sending signal: ${errnoText(error)}`, { cause: error })
    }
  }

  async #watch(spawned: SpawnedProcess, onEnd: ManagedProcessOptions['onEnd']): Promise<void> {
    const outputClosed = Promise.all(this.streams.outputs.map((output) => output.closed)).then(() => this.#fanout.endOutput())
    const exit = await spawned.exited
    this.#hasExited = true
    // One more turn of the event loop reads what the process wrote before the signal.
    if ((await Promise.race([outputClosed, this.#cutShort.promise])) === 'cut short') await setImmediate()
    clearTimeout(this.#lifetime)
    this.streams.close()
    const end = toEndEvent(exit)
    onEnd(this, end)
    this.#fanout.end(end)
  }

  #resume(): void {
    for (const output of this.streams.outputs) output.resume()
  }
}

function toStreams({ pid, link }: SpawnedProcess, publish: (event: OutputEvent) => boolean): ProcessStreams {
  return 'master' in link ? new TerminalStreams(link.master, pid, publish) : new PipeStreams(link, pid, publish)
}
