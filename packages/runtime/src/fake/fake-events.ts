import { EventBuffer } from '../event-buffer.ts'
import type { RuntimeEvent } from '../types.ts'
import type { FakeEngine } from './fake-engine.ts'

export interface FakeSubscription {
  readonly installation: string
  readonly maxUnread: number | undefined
  readonly signal: AbortSignal
}

/** The events of one installation until the signal aborts or the engine stops. */
export function subscribeFake({ events }: FakeEngine, { installation, maxUnread, signal }: FakeSubscription): EventBuffer {
  const onEvent = (from: string, event: RuntimeEvent): void => {
    if (from === installation) buffer.add(event)
  }
  const onStop = (): void => buffer.end()
  const buffer: EventBuffer = new EventBuffer(() => events.off('event', onEvent).off('stop', onStop), maxUnread)
  events.on('event', onEvent).on('stop', onStop)
  signal.addEventListener('abort', () => buffer.abort(), { once: true })
  if (signal.aborted) buffer.abort()
  return buffer
}
