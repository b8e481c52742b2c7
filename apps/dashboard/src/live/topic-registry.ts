import type { ServerFrame } from '@sandyard/dashboard-contract/live/frames'
import type { TopicName, Topics } from '@sandyard/dashboard-contract/live/topics'
import { addLiveListener, sendFrame } from './live-socket.ts'
import { judgeFrame, type Subscription } from './subscription.ts'

export interface TopicHandlers<Name extends TopicName> {
  /** Also after each reconnect and each gap: it replaces everything. */
  readonly onSnapshot: (snapshot: Topics[Name]['snapshot']) => void
  readonly onPatch: (patch: Topics[Name]['patch']) => void
  /** The server refused the topic; it is not tried again until the next reconnect. */
  readonly onError?: (failure: { readonly code: number; readonly message: string }) => void
}

/** As the socket sees them: any topic. */
interface AnyHandlers {
  readonly onSnapshot: (snapshot: never) => void
  readonly onPatch: (patch: never) => void
  readonly onError?: (failure: { readonly code: number; readonly message: string }) => void
}

interface Entry extends Subscription {
  readonly topic: string
  readonly handlers: Set<AnyHandlers>
  againAt: number
  again: ReturnType<typeof setTimeout> | undefined
}

/** A second gap within this time waits: a page that cannot follow must not ask all the time. */
const AGAIN_PAUSE_MS = 2000

const entries = new Map<string, Entry>()
let isOpen = false
let lastId = 0

export function addTopic(topic: string, handlers: AnyHandlers): () => void {
  let entry = entries.get(topic)
  if (entry === undefined) {
    entry = { topic, handlers: new Set(), id: 0, seq: undefined, againAt: 0, again: undefined }
    entries.set(topic, entry)
  }
  const own = entry
  own.handlers.add(handlers)
  // A second handler needs a snapshot too.
  begin(own)
  return () => {
    own.handlers.delete(handlers)
    if (own.handlers.size > 0) return
    leave(own)
    clearTimeout(own.again)
    entries.delete(topic)
  }
}

/** Numbers that nobody sees are not asked for. */
function isDropped({ topic }: Entry): boolean {
  return document.visibilityState === 'hidden' && topic.startsWith('metrics:')
}

function begin(entry: Entry): void {
  leave(entry)
  if (!isOpen || isDropped(entry)) return
  lastId += 1
  entry.id = lastId
  entry.seq = undefined
  sendFrame({ t: 'sub', id: entry.id, topic: entry.topic })
}

function leave(entry: Entry): void {
  if (isOpen && entry.id !== 0) sendFrame({ t: 'unsub', id: entry.id })
  entry.id = 0
}

function beginAgain(entry: Entry): void {
  leave(entry)
  const pauseMs = Math.max(0, entry.againAt + AGAIN_PAUSE_MS - Date.now())
  entry.againAt = Date.now() + pauseMs
  clearTimeout(entry.again)
  entry.again = setTimeout(() => begin(entry), pauseMs)
}

function receive(frame: ServerFrame): void {
  for (const entry of entries.values()) {
    switch (judgeFrame(entry, frame)) {
      case 'ignore':
        continue
      case 'snapshot':
        if (frame.t === 'snapshot') for (const { onSnapshot } of entry.handlers) onSnapshot(frame.data as never)
        break
      case 'patch':
        if (frame.t === 'patch') for (const { onPatch } of entry.handlers) onPatch(frame.data as never)
        break
      case 'resubscribe':
        beginAgain(entry)
        break
      case 'refused':
        entry.id = 0
        if (frame.t === 'error') for (const { onError } of entry.handlers) onError?.({ code: frame.code, message: frame.message })
        break
    }
    return
  }
}

addLiveListener({
  onOpen() {
    isOpen = true
    for (const entry of entries.values()) begin(entry)
  },
  onClose() {
    isOpen = false
    for (const entry of entries.values()) {
      entry.id = 0
      clearTimeout(entry.again)
    }
  },
  onFrame: receive,
  onBinary: () => undefined,
})

document.addEventListener('visibilitychange', () => {
  for (const entry of entries.values()) {
    if (isDropped(entry)) leave(entry)
    else if (entry.id === 0) begin(entry)
  }
})
