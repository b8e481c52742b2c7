import { randomUUID } from 'node:crypto'
import type { Database } from '@sandyard/db/database'
import { resultWithin, within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { MAX_TEAM_TERMINALS, MAX_TERMINALS } from '@sandyard/dashboard-contract/limits'
import type { Terminal } from '../terminals/terminal.ts'
import { castHeader } from './cast-lines.ts'
import { Recorder } from './recorder.ts'
import { appendPart, insertRecording } from './recording-rows.ts'

export interface RecordingsParts {
  readonly database: Pick<Database, 'db'>
  readonly log: Logger
}

interface Switch {
  isWanted: boolean
  isWhole: boolean
  running: Promise<void> | undefined
}

const INSERT_TIMEOUT_MS = 15_000
/** For what is not stored yet when the server stops. */
const STOP_MS = 5000

/** The recordings that this server writes. */
export class Recordings implements AsyncDisposable {
  readonly #parts: RecordingsParts
  /** Those that are begun, go on, or still have something to store. */
  readonly #slots = new Map<string, { readonly teamId: string; recorder?: Recorder }>()
  readonly #switches = new WeakMap<Terminal, Switch>()
  readonly #stopping = new AbortController()

  constructor(parts: RecordingsParts) {
    this.#parts = parts
  }

  /** Turns the recording of a terminal on or off. The last of several calls counts. @throws AppError when it cannot be turned on */
  set(terminal: Terminal, { isOn, isWhole }: { readonly isOn: boolean; readonly isWhole: boolean }): Promise<void> {
    const state: Switch = this.#switches.get(terminal) ?? { isWanted: isOn, isWhole, running: undefined }
    this.#switches.set(terminal, state)
    Object.assign(state, { isWanted: isOn, isWhole })
    state.running ??= this.#follow(terminal, state).finally(() => (state.running = undefined))
    return state.running
  }

  async #follow(terminal: Terminal, state: Switch): Promise<void> {
    while (state.isWanted !== (terminal.tap !== undefined)) {
      if (state.isWanted) await this.#start(terminal, state.isWhole)
      else terminal.record(undefined)
    }
  }

  async #start(terminal: Terminal, isWhole: boolean): Promise<void> {
    const { teamId, sandboxId, terminalId } = terminal
    this.#assertRoom(teamId)
    const recordingId = randomUUID()
    const slot: { readonly teamId: string; recorder?: Recorder } = { teamId }
    this.#slots.set(recordingId, slot)
    try {
      assertGoesOn(terminal)
      const { title } = terminal.view
      const startedAt = new Date()
      const header = castHeader({ ...terminal.size, startedAt, title })
      const row = { recordingId, teamId, sandboxId, terminalId, title, ...terminal.size, startedAt, header }
      const { db } = this.#parts.database
      const inserting = { what: 'Starting a recording', timeoutMs: INSERT_TIMEOUT_MS, signal: this.#stopping.signal }
      if (!(await within(inserting, () => insertRecording(db, row))))
        throw new AppError('resource_exhausted', 'The recordings of your team have reached their largest size or number: remove some first')
      slot.recorder = this.#record(terminal, recordingId, header.length)
      assertGoesOn(terminal)
      terminal.record(slot.recorder, { isWhole })
    } catch (err) {
      if (slot.recorder === undefined) this.#slots.delete(recordingId)
      else slot.recorder.end()
      throw err
    }
  }

  #record(terminal: Terminal, recordingId: string, headerBytes: number): Recorder {
    const { database, log } = this.#parts
    const recorder = new Recorder({
      recordingId,
      headerBytes,
      append: async (part) => {
        try {
          return await appendPart(database.db, part)
        } catch (err) {
          log.warn({ err, recordingId, sandboxId: terminal.sandboxId }, 'a part of a recording could not be stored')
          throw err
        }
      },
      onOver: (text) => {
        if (terminal.tap !== recorder) return
        terminal.record(undefined)
        terminal.viewers.tellRecording(null, text)
      },
      signal: this.#stopping.signal,
    })
    void recorder.done.finally(() => this.#slots.delete(recordingId))
    return recorder
  }

  /** As many as terminals: one that has ended may still have something to store. @throws AppError `resource_exhausted` */
  #assertRoom(teamId: string): void {
    const ofTeam = [...this.#slots.values()].filter((slot) => slot.teamId === teamId).length
    if (ofTeam >= MAX_TEAM_TERMINALS || this.#slots.size >= MAX_TERMINALS)
      throw new AppError('resource_exhausted', 'Too many terminals are recorded: end a recording first')
  }

  /** Stores the output that still waits, within a deadline. Call it after all terminals have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#slots.values()].flatMap(({ recorder }) => recorder ?? [])
    for (const recorder of open) recorder.end()
    await resultWithin(STOP_MS, Promise.all(open.map(({ done }) => done)))
    this.#stopping.abort()
    await Promise.all(open.map(({ done }) => done))
  }
}

/** @throws AppError `conflict` */
function assertGoesOn(terminal: Terminal): void {
  if (terminal.exit !== null || terminal.isForgotten) throw new AppError('conflict', 'The shell has ended')
}
