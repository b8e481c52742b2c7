import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { assertSession } from './assert-session.ts'
import type { Channel } from './notify.ts'

export interface ListenOptions {
  /** Leads to the database itself. */
  readonly url: string
  readonly applicationName: string
  readonly channels: readonly Channel[]
  readonly log: Logger
  /** Called for every notification, in order. Must not throw. */
  readonly onNotification: (channel: Channel, payload: string) => void
  /** Called whenever notifications may have been missed: at the start and after each reconnect, once listening. Must not throw. */
  readonly onRefresh: () => void
  /** Called when a connection that listened is lost or closed: notifications are missed until the next `onRefresh`. Must not throw. */
  readonly onLost?: () => void
  /**
   * Called whenever the connection has proved to carry notifications: all that were committed before `sentAt`, of `performance.now()`, have
   * been passed on. Must not throw.
   */
  readonly onAlive?: (sentAt: number) => void
  /** How often that is checked. Default: every 15 s. */
  readonly checkEveryMs?: number
}

export interface Listener extends AsyncDisposable {
  /** Resolves when the listener is connected for the first time. */
  readonly ready: Promise<void>
}

const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 5000
/** Interval of a query that detects a dead connection. */
const PING_EVERY_MS = 15_000
const PING_TIMEOUT_MS = 10_000

/**
 * Listens on its own connection until it is disposed. It reconnects after a lost connection, and then calls `onRefresh`, because
 * notifications may have been missed.
 */
export function listen(options: ListenOptions): Listener {
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  const ended = run(options, stopping.signal, ready.resolve)
  return {
    ready: ready.promise,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await ended
    },
  }
}

async function run(options: ListenOptions, signal: AbortSignal, onReady: () => void): Promise<void> {
  let retryMs = FIRST_RETRY_MS
  while (!signal.aborted) {
    try {
      await session(options, signal, () => {
        retryMs = FIRST_RETRY_MS
        onReady()
      })
    } catch (err) {
      if (!signal.aborted) options.log.warn({ err, retryMs }, 'database listener lost its connection')
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  }
}

/** One connection, from connect until it breaks (throws) or `signal` aborts (returns). */
async function session(options: ListenOptions, signal: AbortSignal, onListening: () => void): Promise<void> {
  const client = new Client({
    connectionString: options.url,
    application_name: options.applicationName,
    keepAlive: true,
    connectionTimeoutMillis: PING_TIMEOUT_MS,
    query_timeout: PING_TIMEOUT_MS,
  })
  const broken = new Promise<never>((_, reject) => {
    client.on('error', reject)
    client.on('end', () => reject(new Error('the connection ended')))
  })
  broken.catch(() => undefined)
  try {
    await Promise.race([client.connect(), broken])
    // Through a pool in transaction mode nothing would ever be heard.
    await Promise.race([assertSession(client, options.url), broken])
    client.on('notification', ({ channel, payload }) => options.onNotification(channel as Channel, payload ?? ''))
    for (const channel of options.channels) await client.query(`listen ${channel}`)
    onListening()
    options.onRefresh()
    try {
      while (!signal.aborted) {
        await Promise.race([delay(options.checkEveryMs ?? PING_EVERY_MS, undefined, { signal }).catch(() => undefined), broken])
        if (signal.aborted) break
        const sentAt = performance.now()
        await Promise.race([client.query('select 1'), broken])
        options.onAlive?.(sentAt)
      }
    } finally {
      options.onLost?.()
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}
