/**
 * The live socket, `GET /dashboard/api/live` (dashboard-and-cli.md 5.2). Text frames are JSON objects with `t`; binary frames are the bytes of
 * terminals. No imports of values: the page bundles this file.
 */

/** What the page sends. */
export type ClientFrame =
  /** `id` is chosen by the page, from 1, unique in the socket. */
  | { readonly t: 'sub'; readonly id: number; readonly topic: string }
  | { readonly t: 'unsub'; readonly id: number }
  | { readonly t: 'pong' }
  | TermOpen
  | TermAttach
  | { readonly t: 'term.detach'; readonly channel: number }
  | { readonly t: 'term.resize'; readonly channel: number; readonly cols: number; readonly rows: number }
  /** Bytes that xterm has parsed since the last one. */
  | { readonly t: 'term.ack'; readonly channel: number; readonly bytes: number }
  /** Ends the shell. */
  | { readonly t: 'term.end'; readonly channel: number }
  /** Starts or stops a recording. */
  | { readonly t: 'term.record'; readonly channel: number; readonly on: boolean }

export interface TermOpen {
  readonly t: 'term.open'
  /** Chosen by the page; the answer has it. */
  readonly request: number
  readonly sandboxId: string
  readonly cols: number
  readonly rows: number
  /** Default: the user of the template. */
  readonly user?: string
  readonly cwd?: string
  readonly record?: boolean
  /** Chosen by the page: the same one again, after a lost answer, attaches to the shell that was made. */
  readonly terminalId: string
}

export interface TermAttach {
  readonly t: 'term.attach'
  readonly request: number
  readonly terminalId: string
  /** Of the terminal. With it the server finds a shell that another server, or this one before a restart, has started. */
  readonly sandboxId?: string
  readonly cols: number
  readonly rows: number
}

/** What the server sends. */
export type ServerFrame =
  /** The first frame. Another `assets` than the page's: it says "reload". */
  | { readonly t: 'version'; readonly server: string; readonly assets: string; readonly sessionEndsAt: string }
  | { readonly t: 'ping' }
  | { readonly t: 'snapshot'; readonly id: number; readonly data: unknown }
  /** `seq` counts from 1 after each snapshot. A gap: subscribe again. */
  | { readonly t: 'patch'; readonly id: number; readonly seq: number; readonly data: unknown }
  /** The server has dropped patches of the subscription, which has ended: subscribe again. */
  | { readonly t: 'gap'; readonly id: number }
  /** With `id` the subscription has ended; with `request` the terminal was refused; else the frame was not understood. */
  | { readonly t: 'error'; readonly id?: number; readonly request?: number; readonly code: number; readonly message: string }
  /** Binary frames of `channel` follow: first what is kept, as one or more frames. `isCut`: it began before what is kept. */
  | {
      readonly t: 'term.attached'
      readonly request: number
      readonly channel: number
      readonly terminalId: string
      readonly isCut: boolean
    }
  /** To every viewer, on every server, whoever ended it. */
  | { readonly t: 'term.exit'; readonly channel: number; readonly exitCode: number | null; readonly text: string }
  /** `text`: why it does not record, or no more, although that was asked for. */
  | { readonly t: 'term.recording'; readonly channel: number; readonly recordingId: string | null; readonly text?: string }
  | { readonly t: 'session.ended'; readonly message: string }

/** A binary frame begins with the channel: 4 bytes, big-endian, unsigned. The rest is output (to the page) or input (from it). */
export const CHANNEL_BYTES = 4

export function encodeTerminalFrame(channel: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(CHANNEL_BYTES + bytes.length)
  new DataView(frame.buffer).setUint32(0, channel)
  frame.set(bytes, CHANNEL_BYTES)
  return frame
}

/** Undefined for a frame without a channel. */
export function decodeTerminalFrame(frame: Uint8Array): { readonly channel: number; readonly bytes: Uint8Array } | undefined {
  if (frame.length < CHANNEL_BYTES) return undefined
  const channel = new DataView(frame.buffer, frame.byteOffset, CHANNEL_BYTES).getUint32(0)
  return { channel, bytes: frame.subarray(CHANNEL_BYTES) }
}
