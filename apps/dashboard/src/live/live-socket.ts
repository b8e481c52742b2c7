import type { ClientFrame, ServerFrame } from '@sandyard/dashboard-contract/live/frames'
import { LIVE_CLOSE, LIVE_SILENCE_MS } from '@sandyard/dashboard-contract/limits'
import { readSession } from '../session/session.ts'
import { me } from '../session/me.ts'
import { backOffMs } from './back-off.ts'
import { compareAssets, setLiveState, setLiveTrouble } from './live-state.ts'

export interface LiveListener {
  /** The socket is open: subscribe and attach. */
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly onFrame: (frame: ServerFrame) => void
  readonly onBinary: (bytes: Uint8Array) => void
}

const PATH = '/dashboard/api/live'
/** Attempts without an upgrade, while the API answers, after which a proxy is to blame. */
const REFUSALS_TO_TELL = 3

const listeners = new Set<LiveListener>()
let socket: WebSocket | undefined
let isWanted = false
let attempt = 0
let heardAt = 0
let silence: ReturnType<typeof setInterval> | undefined
let retry: ReturnType<typeof setTimeout> | undefined

/** A part that is loaded later hears at once that the socket is open. */
export function addLiveListener(listener: LiveListener): void {
  listeners.add(listener)
  if (socket?.readyState === WebSocket.OPEN) listener.onOpen()
}

/** Opens the tab's socket and keeps it open until `stopLive`. */
export function startLive(): void {
  if (isWanted) return
  isWanted = true
  addEventListener('online', connectNow)
  document.addEventListener('visibilitychange', connectNow)
  attempt = 0
  connect()
}

export function stopLive(): void {
  isWanted = false
  removeEventListener('online', connectNow)
  document.removeEventListener('visibilitychange', connectNow)
  clearTimeout(retry)
  retry = undefined
  drop(1000)
  setLiveState('closed')
  setLiveTrouble(undefined)
}

/** Returns false when the socket is not open. */
export function sendFrame(frame: ClientFrame): boolean {
  return sendRaw(JSON.stringify(frame))
}

export function sendRaw(data: string | Uint8Array<ArrayBuffer>): boolean {
  if (socket?.readyState !== WebSocket.OPEN) return false
  socket.send(data)
  return true
}

function connectNow(): void {
  if (retry === undefined || document.visibilityState === 'hidden') return
  clearTimeout(retry)
  connect()
}

function connect(): void {
  retry = undefined
  setLiveState('connecting')
  const opened = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${PATH}`)
  opened.binaryType = 'arraybuffer'
  socket = opened
  let wasOpen = false
  opened.addEventListener('open', () => {
    if (socket !== opened) return
    wasOpen = true
    attempt = 0
    setLiveState('open')
    setLiveTrouble(undefined)
    for (const listener of listeners) listener.onOpen()
  })
  opened.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (socket !== opened) return
    heardAt = Date.now()
    if (typeof data === 'string') receive(data)
    else for (const listener of listeners) listener.onBinary(new Uint8Array(data))
  })
  opened.addEventListener('close', ({ code }) => {
    if (socket === opened) closed(code, wasOpen)
  })
  heardAt = Date.now()
  clearInterval(silence)
  silence = setInterval(() => {
    if (Date.now() - heardAt < LIVE_SILENCE_MS) return
    drop(1000)
    closed(1006, true)
  }, LIVE_SILENCE_MS / 10)
}

function receive(text: string): void {
  let frame: ServerFrame
  try {
    frame = JSON.parse(text) as ServerFrame
  } catch {
    return
  }
  if (frame.t === 'ping') sendFrame({ t: 'pong' })
  else if (frame.t === 'version') compareAssets(frame.assets)
  else if (frame.t === 'session.ended') me.value = null
  else for (const listener of listeners) listener.onFrame(frame)
}

/** Leaves the socket without waiting for its close, which a dead network delays for minutes. */
function drop(code: number): void {
  clearInterval(silence)
  const left = socket
  socket = undefined
  left?.close(code)
}

function closed(code: number, wasOpen: boolean): void {
  clearInterval(silence)
  socket = undefined
  for (const listener of listeners) listener.onClose()
  if (!isWanted) return
  if (code === LIVE_CLOSE.sessionEnded) {
    me.value = null
    return
  }
  setLiveState('waiting')
  if (code === LIVE_CLOSE.tooMany) setLiveTrouble('tooMany')
  else if (!wasOpen) void findCause()
  retry = setTimeout(connect, backOffMs(code === LIVE_CLOSE.tooMany ? 6 : attempt))
  attempt += 1
}

/** A refused upgrade has no status in a browser, so the API is asked: it says whether the session, the server or a proxy is the cause. */
async function findCause(): Promise<void> {
  try {
    await readSession()
    if (isWanted && socket?.readyState !== WebSocket.OPEN && attempt >= REFUSALS_TO_TELL) setLiveTrouble('noUpgrade')
  } catch {
    if (isWanted && socket?.readyState !== WebSocket.OPEN) setLiveTrouble('unreachable')
  }
}
