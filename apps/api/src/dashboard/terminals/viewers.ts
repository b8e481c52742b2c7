import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import { MAX_TERMINAL_VIEWERS } from '@sandyard/dashboard-contract/limits'
import type { Outbox } from '../live/outbox.ts'
import type { OutputRing } from './output-ring.ts'
import { Viewer } from './viewer.ts'

export interface TerminalEnd {
  readonly exitCode: number | null
  readonly text: string
}

/** How long a terminal waits for its slowest viewer. Afterwards that one misses output. */
const STALL_MS = 2000

/** The pages that show a terminal. */
export class Viewers implements Disposable {
  readonly #ring: OutputRing
  readonly #onChange: () => void
  readonly #all = new Set<Viewer>()
  #room = Promise.withResolvers<void>()
  #end: TerminalEnd | undefined

  constructor(ring: OutputRing, onChange: () => void) {
    this.#ring = ring
    this.#onChange = onChange
  }

  get count(): number {
    return this.#all.size
  }

  /** @throws AppError `resource_exhausted` */
  assertRoom(): void {
    if (this.#all.size >= MAX_TERMINAL_VIEWERS)
      throw new AppError('resource_exhausted', `At most ${MAX_TERMINAL_VIEWERS} tabs show one shell`)
  }

  /** What is kept follows at once. */
  add(channel: number, outbox: Outbox, attached: (isCut: boolean) => void): Viewer {
    const viewer = new Viewer(channel, outbox, this.#ring, () => this.#hasRoom())
    this.#all.add(viewer)
    attached(this.#ring.start > 0)
    viewer.pump()
    if (this.#end !== undefined) viewer.finish({ t: 'term.exit', channel, ...this.#end })
    this.#onChange()
    return viewer
  }

  remove(viewer: Viewer): void {
    viewer[Symbol.dispose]()
    if (!this.#all.delete(viewer)) return
    this.#hasRoom()
    this.#onChange()
  }

  /** Sends new output. Waits for viewers that are behind, but not for long: the shell stops meanwhile, for all. */
  async sent(signal: AbortSignal): Promise<void> {
    for (const viewer of this.#all) viewer.pump()
    if (!this.#someIsBehind()) return
    const waiting = { what: 'a viewer', timeoutMs: STALL_MS, signal }
    await within(waiting, async () => {
      while (this.#someIsBehind()) await this.#room.promise
    }).catch(() => {
      for (const viewer of this.#all) viewer.giveUp()
    })
    this.#hasRoom()
  }

  /** @param text - why it does not record any more */
  tellRecording(recordingId: string | null, text?: string): void {
    const why = text === undefined ? {} : { text }
    for (const viewer of this.#all) viewer.tell({ t: 'term.recording', channel: viewer.channel, recordingId, ...why })
  }

  end(end: TerminalEnd): void {
    this.#end = end
    for (const viewer of this.#all) viewer.finish({ t: 'term.exit', channel: viewer.channel, ...end })
  }

  #someIsBehind(): boolean {
    return [...this.#all].some((viewer) => viewer.isBehind)
  }

  #hasRoom(): void {
    this.#room.resolve()
    this.#room = Promise.withResolvers()
  }

  [Symbol.dispose](): void {
    for (const viewer of this.#all) viewer[Symbol.dispose]()
    this.#all.clear()
  }
}
