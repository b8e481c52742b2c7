import { signal, type ReadonlySignal } from '@preact/signals'
import type { TopicName, Topics, TopicText } from '@sandyard/dashboard-contract/live/topics'

export type LiveState = 'connecting' | 'open' | 'waiting' | 'closed'

const stateSignal = signal<LiveState>('closed')

/** The state of the tab's one socket. */
export const liveState: ReadonlySignal<LiveState> = stateSignal

export interface TopicHandlers<Name extends TopicName> {
  /** Also after each reconnect and each gap: it replaces everything. */
  readonly onSnapshot: (snapshot: Topics[Name]['snapshot']) => void
  readonly onPatch: (patch: Topics[Name]['patch']) => void
  /** The server refused the topic; it is not tried again until the next reconnect. */
  readonly onError?: (failure: { readonly code: number; readonly message: string }) => void
}

/** Subscribes until the returned function is called. Equal topics of one tab share a subscription. */
export function subscribe<Name extends TopicName>(_topic: TopicText<Name>, _handlers: TopicHandlers<Name>): () => void {
  return () => undefined
}

export interface TerminalHandlers {
  /** What is kept comes first; `isCut`: it began earlier. The terminal is to be cleared. */
  readonly onAttached: (attached: { readonly terminalId: string; readonly isCut: boolean }) => void
  /** `done` is called once xterm has parsed the bytes: they are acknowledged then. */
  readonly onOutput: (bytes: Uint8Array, done: () => void) => void
  readonly onExit: (exit: { readonly exitCode: number | null; readonly text: string }) => void
  readonly onRecording: (recordingId: string | null) => void
  readonly onError: (failure: { readonly code: number; readonly message: string }) => void
}

/** A viewer of a shell. It attaches again by itself after a reconnect. */
export interface TerminalLink {
  type(bytes: Uint8Array): void
  resize(cols: number, rows: number): void
  record(on: boolean): void
  /** Ends the shell. */
  end(): void
  /** Leaves the shell to itself. */
  detach(): void
}

export interface OpenTerminal {
  readonly terminalId: string
  /** Absent: attaches to an existing shell only. */
  readonly create?: { readonly sandboxId: string; readonly user?: string; readonly cwd?: string; readonly record?: boolean }
  readonly cols: number
  readonly rows: number
}

export function openTerminal(_terminal: OpenTerminal, handlers: TerminalHandlers): TerminalLink {
  queueMicrotask(() => handlers.onError({ code: 501, message: 'The live socket is not there yet.' }))
  const nothing = (): void => undefined
  return { type: nothing, resize: nothing, record: nothing, end: nothing, detach: nothing }
}
