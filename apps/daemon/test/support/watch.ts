import { readdirSync, readFileSync } from 'node:fs'
import { EventType, type FilesystemEvent, type WatchDirResponse } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { TestDaemon } from './test-daemon.ts'

export interface WatchSettings {
  readonly path: string
  readonly recursive?: boolean
  readonly includeEntry?: boolean
  readonly allowNetworkMounts?: boolean
}

/** `KIND name`, followed by the path of the entry if the event has one. */
function describeEvent({ type, name, entry }: FilesystemEvent): string {
  return [EventType[type], name, ...(entry === undefined ? [] : [entry.path])].join(' ')
}

export interface PolledWatcher extends AsyncDisposable {
  readonly id: string
  /** The events since the last call. */
  take(): Promise<string[]>
}

export async function pollDirectory({ filesystem }: TestDaemon, settings: WatchSettings): Promise<PolledWatcher> {
  const { watcherId } = await filesystem.createWatcher(settings)
  return {
    id: watcherId,
    take: async () => (await filesystem.getWatcherEvents({ watcherId })).events.map(describeEvent),
    [Symbol.asyncDispose]: async () => {
      await filesystem.removeWatcher({ watcherId })
    },
  }
}

export interface StreamedWatch extends Disposable {
  /** The next message: `keepalive`, or an event. Undefined at the end. */
  next(): Promise<string | undefined>
}

export interface StreamSettings extends WatchSettings {
  readonly headers?: Record<string, string>
  readonly timeoutMs?: number
}

/** Opens WatchDir and returns after its start message. Disposing of it closes the connection. */
export async function streamDirectory({ filesystem }: TestDaemon, settings: StreamSettings): Promise<StreamedWatch> {
  const { headers, timeoutMs, ...request } = settings
  const gone = new AbortController()
  const limits = timeoutMs === undefined ? {} : { timeoutMs }
  const messages = filesystem.watchDir(request, { signal: gone.signal, ...(headers && { headers }), ...limits })[Symbol.asyncIterator]()
  const first = await messages.next()
  if (first.done === true || first.value.event.case !== 'start') throw new Error('the first message is not the start')
  return {
    next: async () => {
      const message = await messages.next()
      return message.done === true ? undefined : describeMessage(message.value)
    },
    [Symbol.dispose]: () => gone.abort(),
  }
}

function describeMessage({ event }: WatchDirResponse): string {
  return event.case === 'filesystem' ? describeEvent(event.value) : String(event.case)
}

/** Counts open files and kernel watches of this process. */
export function countHandles(): { readonly files: number; readonly watches: number } {
  const counts = { files: 0, watches: 0 }
  for (const fd of readdirSync('/proc/self/fdinfo')) {
    try {
      const info = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')
      counts.files += 1
      counts.watches += info.match(/^inotify /gm)?.length ?? 0
    } catch {
      // The descriptor of the listing itself is already closed.
    }
  }
  return counts
}
