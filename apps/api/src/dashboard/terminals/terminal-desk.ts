import { AppError } from '@sandyard/kit/errors/app-error'
import { MAX_TERMINAL_CHUNK_BYTES } from '@sandyard/dashboard-contract/limits'
import { decodeTerminalFrame, type ClientFrame } from '@sandyard/dashboard-contract/live/frames'
import { describeError } from '../live/subscription.ts'
import type { Outbox } from '../live/outbox.ts'
import type { Terminal } from './terminal.ts'
import type { TerminalSize } from './size-sender.ts'
import type { Terminals } from './terminals.ts'
import type { Viewer } from './viewer.ts'

export type TerminalFrame = Extract<ClientFrame, { readonly t: `term.${string}` }>

/** What a socket is allowed to do now. */
interface DeskRights {
  readonly teamId: string
  /** @throws AppError for a blocked team, or a key that may not */
  assertMayUse(): void
}

export interface DeskParts {
  readonly terminals: Terminals
  readonly outbox: Outbox
  readonly rights: DeskRights
  /** Records that a shell was started, ended or recorded. Must not throw. */
  readonly audit: (operation: string, terminal: { readonly sandboxId: string; readonly terminalId: string }, err?: unknown) => void
  /** Starts or ends the recording of a terminal; `isWhole`: with what it has printed before. @throws AppError */
  readonly record: (terminal: Terminal, isOn: boolean, isWhole: boolean) => Promise<void>
  readonly signal: AbortSignal
}

interface Shown {
  readonly terminal: Terminal
  readonly viewer: Viewer
}

/** Channels of one socket, opened ones included. */
const MAX_CHANNELS = 32

/** The terminals that one page shows. */
export class TerminalDesk implements Disposable {
  readonly #parts: DeskParts
  readonly #shown = new Map<number, Shown>()
  /** Opened or attached, and not answered yet. */
  #pending = 0
  /** The reason why a new shell is not recorded, kept until it is sent to the page. */
  readonly #refusals = new WeakMap<Terminal, string | undefined>()
  #lastChannel = 0

  constructor(parts: DeskParts) {
    this.#parts = parts
  }

  /** @throws AppError */
  async handle(frame: TerminalFrame): Promise<void> {
    switch (frame.t) {
      case 'term.open':
        return this.#show(frame, () => this.#open(frame))
      case 'term.attach':
        return this.#show(frame, () => this.#attach(frame))
      case 'term.detach':
        return this.#detach(frame.channel)
      case 'term.resize':
        return this.#shown.get(frame.channel)?.terminal.resize(frame)
      case 'term.ack':
        return this.#shown.get(frame.channel)?.viewer.acknowledge(frame.bytes)
      case 'term.end':
        return this.#end(frame.channel)
      case 'term.record':
        return this.#record(frame.channel, frame.on)
      default:
        frame satisfies never
    }
  }

  /** Input. @throws AppError */
  type(bytes: Uint8Array): void {
    const input = decodeTerminalFrame(bytes)
    if (input === undefined || input.bytes.length > MAX_TERMINAL_CHUNK_BYTES) throw new AppError('invalid_argument', 'A frame is malformed')
    const terminal = this.#shown.get(input.channel)?.terminal
    if (terminal === undefined) return
    this.#parts.rights.assertMayUse()
    if (!terminal.type(input.bytes)) throw new AppError('resource_exhausted', 'The shell does not read: the input was dropped')
  }

  /** The team was blocked: nothing is shown any more. The shells go on until they are unused for too long. */
  close(text: string): void {
    for (const [channel, { viewer }] of this.#shown) viewer.tell({ t: 'term.exit', channel, exitCode: null, text })
    this[Symbol.dispose]()
  }

  async #show(frame: TerminalSize & { readonly request: number }, find: () => Promise<Terminal>): Promise<void> {
    this.#parts.rights.assertMayUse()
    if (this.#shown.size + this.#pending >= MAX_CHANNELS)
      throw new AppError('resource_exhausted', `At most ${MAX_CHANNELS} shells in one tab`)
    this.#pending += 1
    try {
      const terminal = await find()
      // The page may have gone, or the team may be blocked by now.
      this.#parts.signal.throwIfAborted()
      this.#parts.rights.assertMayUse()
      this.#view(terminal, frame)
    } finally {
      this.#pending -= 1
    }
  }

  #view(terminal: Terminal, { request, cols, rows }: TerminalSize & { readonly request: number }): void {
    terminal.viewers.assertRoom()
    this.#lastChannel += 1
    const channel = this.#lastChannel
    const { outbox } = this.#parts
    const { terminalId } = terminal
    const viewer = terminal.viewers.add(channel, outbox, (isCut) => {
      outbox.tell({ t: 'term.attached', request, channel, terminalId, isCut })
      outbox.tell({ t: 'term.recording', channel, recordingId: terminal.tap?.recordingId ?? null })
    })
    this.#shown.set(channel, { terminal, viewer })
    const text = this.#refusals.get(terminal)
    this.#refusals.delete(terminal)
    if (text !== undefined) viewer.tell({ t: 'term.recording', channel, recordingId: null, text })
    terminal.resize({ cols, rows }, { redraw: terminal.hasOutput })
  }

  async #open({ sandboxId, terminalId, user, cwd, cols, rows, record }: Extract<ClientFrame, { t: 'term.open' }>): Promise<Terminal> {
    const { terminals, rights, signal, audit } = this.#parts
    const target = { sandboxId, terminalId }
    try {
      const terminal = await terminals.open({ teamId: rights.teamId, ...target, user, cwd, cols, rows }, signal)
      audit('openTerminal', target)
      if (record === true && terminal.tap === undefined) this.#refusals.set(terminal, await this.#switch(terminal, true, true))
      return terminal
    } catch (err) {
      audit('openTerminal', target, err)
      throw err
    }
  }

  #attach({ terminalId, sandboxId, cols, rows }: Extract<ClientFrame, { t: 'term.attach' }>): Promise<Terminal> {
    const { terminals, rights, signal } = this.#parts
    return terminals.attach({ teamId: rights.teamId, terminalId, sandboxId, cols, rows }, signal)
  }

  #detach(channel: number): void {
    const shown = this.#shown.get(channel)
    if (shown === undefined) return
    this.#shown.delete(channel)
    shown.terminal.viewers.remove(shown.viewer)
  }

  /** The viewers hear of the end when the shell has ended. */
  async #end(channel: number): Promise<void> {
    const terminal = this.#shown.get(channel)?.terminal
    if (terminal === undefined) return
    await terminal.kill(this.#parts.signal)
    this.#parts.audit('endTerminal', terminal)
  }

  async #record(channel: number, isOn: boolean): Promise<void> {
    const shown = this.#shown.get(channel)
    if (shown === undefined) return
    const { terminal, viewer } = shown
    this.#parts.rights.assertMayUse()
    const text = await this.#switch(terminal, isOn)
    if (text !== undefined) viewer.tell({ t: 'term.recording', channel, recordingId: terminal.tap?.recordingId ?? null, text })
    else terminal.viewers.tellRecording(terminal.tap?.recordingId ?? null)
  }

  /** Returns why it was refused. The shell does not depend on it. */
  async #switch(terminal: Terminal, isOn: boolean, isWhole = false): Promise<string | undefined> {
    try {
      await this.#parts.record(terminal, isOn, isWhole)
      this.#parts.audit('recordTerminal', terminal)
      return undefined
    } catch (err) {
      this.#parts.audit('recordTerminal', terminal, err)
      return describeError(err).message
    }
  }

  [Symbol.dispose](): void {
    for (const channel of this.#shown.keys()) this.#detach(channel)
  }
}
