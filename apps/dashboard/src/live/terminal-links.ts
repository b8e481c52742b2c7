import { decodeTerminalFrame, encodeTerminalFrame, type ServerFrame } from '@sandyard/dashboard-contract/live/frames'
import { MAX_TERMINAL_CHUNK_BYTES, TERMINAL_WINDOW_BYTES } from '@sandyard/dashboard-contract/limits'
import { addLiveListener, sendFrame, sendRaw } from './live-socket.ts'

export interface TerminalHandlers {
  /** What is kept comes first; `isCut`: it began earlier. The terminal is to be cleared. */
  readonly onAttached: (attached: { readonly terminalId: string; readonly isCut: boolean }) => void
  /** `done` is called once xterm has parsed the bytes: they are acknowledged then. */
  readonly onOutput: (bytes: Uint8Array, done: () => void) => void
  readonly onExit: (exit: { readonly exitCode: number | null; readonly text: string }) => void
  /** `text`: why it does not record, although that was asked for. */
  readonly onRecording: (recordingId: string | null, text: string | undefined) => void
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
  /** Of an existing shell: with it any server finds it. */
  readonly sandboxId?: string
  readonly cols: number
  readonly rows: number
}

/** Acknowledgements wait for more until this much is parsed, or this long. */
const ACK_BYTES = TERMINAL_WINDOW_BYTES / 8
const ACK_MS = 30
/** Typed while there is no connection, sent when the shell is attached again. */
const MAX_HELD_BYTES = 16 * 1024

interface Viewer {
  readonly terminalId: string
  readonly create: OpenTerminal['create']
  readonly sandboxId: string | undefined
  readonly handlers: TerminalHandlers
  cols: number
  rows: number
  wasAttached: boolean
  /** Of the last open or attach; undefined: answered, or not sent. */
  request: number | undefined
  channel: number | undefined
  parsed: number
  ack: ReturnType<typeof setTimeout> | undefined
  /** Whether it is to be recorded, until the server has said so; undefined: as the server says. */
  wantsRecord: boolean | undefined
  held: Uint8Array[]
  heldBytes: number
}

const viewers = new Set<Viewer>()
let lastRequest = 0
let isOpen = false

export function openTerminal({ terminalId, create, sandboxId, cols, rows }: OpenTerminal, handlers: TerminalHandlers): TerminalLink {
  const viewer: Viewer = {
    terminalId,
    create,
    sandboxId: sandboxId ?? create?.sandboxId,
    handlers,
    cols,
    rows,
    wasAttached: false,
    request: undefined,
    channel: undefined,
    parsed: 0,
    ack: undefined,
    wantsRecord: undefined,
    held: [],
    heldBytes: 0,
  }
  viewers.add(viewer)
  attach(viewer)
  return {
    type: (bytes) => type(viewer, bytes),
    resize(cols, rows) {
      viewer.cols = cols
      viewer.rows = rows
      if (viewer.channel !== undefined) sendFrame({ t: 'term.resize', channel: viewer.channel, cols, rows })
    },
    record(on) {
      viewer.wantsRecord = on
      if (viewer.channel !== undefined) sendFrame({ t: 'term.record', channel: viewer.channel, on })
    },
    end() {
      if (viewer.channel !== undefined) sendFrame({ t: 'term.end', channel: viewer.channel })
    },
    detach() {
      viewers.delete(viewer)
      clearTimeout(viewer.ack)
      if (viewer.channel !== undefined) sendFrame({ t: 'term.detach', channel: viewer.channel })
      viewer.channel = undefined
    },
  }
}

function attach(viewer: Viewer): void {
  if (!isOpen) return
  const { terminalId, create, sandboxId, cols, rows, wasAttached } = viewer
  lastRequest += 1
  viewer.request = lastRequest
  // The same id again after a lost answer attaches to the shell that was made.
  if (create === undefined || wasAttached)
    sendFrame({ t: 'term.attach', request: lastRequest, terminalId, cols, rows, ...(sandboxId !== undefined && { sandboxId }) })
  else sendFrame({ t: 'term.open', request: lastRequest, terminalId, cols, rows, ...create })
}

function type(viewer: Viewer, bytes: Uint8Array): void {
  if (viewer.channel === undefined) {
    if (viewer.heldBytes + bytes.length > MAX_HELD_BYTES) return
    viewer.held.push(bytes)
    viewer.heldBytes += bytes.length
    return
  }
  for (let from = 0; from < bytes.length; from += MAX_TERMINAL_CHUNK_BYTES)
    sendRaw(encodeTerminalFrame(viewer.channel, bytes.subarray(from, from + MAX_TERMINAL_CHUNK_BYTES)))
}

function attached(viewer: Viewer, channel: number, isCut: boolean): void {
  Object.assign(viewer, { request: undefined, channel, wasAttached: true, parsed: 0 })
  viewer.handlers.onAttached({ terminalId: viewer.terminalId, isCut })
  sendFrame({ t: 'term.resize', channel, cols: viewer.cols, rows: viewer.rows })
  if (viewer.wantsRecord !== undefined) sendFrame({ t: 'term.record', channel, on: viewer.wantsRecord })
  const { held } = viewer
  viewer.held = []
  viewer.heldBytes = 0
  for (const bytes of held) type(viewer, bytes)
}

function parsed(viewer: Viewer, channel: number, bytes: number): void {
  // Of an earlier connection: the server does not wait for it any more.
  if (viewer.channel !== channel) return
  viewer.parsed += bytes
  if (viewer.parsed >= ACK_BYTES) acknowledge(viewer)
  else viewer.ack ??= setTimeout(() => acknowledge(viewer), ACK_MS)
}

function acknowledge(viewer: Viewer): void {
  clearTimeout(viewer.ack)
  viewer.ack = undefined
  if (viewer.channel !== undefined && viewer.parsed > 0) sendFrame({ t: 'term.ack', channel: viewer.channel, bytes: viewer.parsed })
  viewer.parsed = 0
}

function receive(frame: ServerFrame): void {
  for (const viewer of viewers) {
    const isAnswer = 'request' in frame && frame.request !== undefined && frame.request === viewer.request
    const isOwn = 'channel' in frame && frame.channel === viewer.channel
    if (isAnswer && frame.t === 'term.attached') attached(viewer, frame.channel, frame.isCut)
    else if (isAnswer && frame.t === 'error') {
      viewer.request = undefined
      viewer.handlers.onError({ code: frame.code, message: frame.message })
    } else if (isOwn && frame.t === 'term.recording') recording(viewer, frame.recordingId, frame.text)
    else if (isOwn && frame.t === 'term.exit') {
      viewers.delete(viewer)
      viewer.channel = undefined
      viewer.handlers.onExit({ exitCode: frame.exitCode, text: frame.text })
    }
  }
}

/** The state from before the click is left out: the answer to it follows. */
function recording(viewer: Viewer, recordingId: string | null, text: string | undefined): void {
  if (text === undefined && viewer.wantsRecord === (recordingId === null)) return
  viewer.wantsRecord = undefined
  viewer.handlers.onRecording(recordingId, text)
}

function receiveOutput(frame: Uint8Array): void {
  const output = decodeTerminalFrame(frame)
  if (output === undefined) return
  const { channel, bytes } = output
  for (const viewer of viewers) if (viewer.channel === channel) viewer.handlers.onOutput(bytes, () => parsed(viewer, channel, bytes.length))
}

addLiveListener({
  onOpen() {
    isOpen = true
    for (const viewer of viewers) attach(viewer)
  },
  onClose() {
    isOpen = false
    for (const viewer of viewers) {
      clearTimeout(viewer.ack)
      Object.assign(viewer, { channel: undefined, request: undefined, ack: undefined, parsed: 0 })
    }
  },
  onFrame: receive,
  onBinary: receiveOutput,
})
