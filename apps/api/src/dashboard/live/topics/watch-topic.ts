import { createClient } from '@connectrpc/connect'
import { EventType, Filesystem, type FilesystemEvent } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { MAX_PATH_BYTES, MAX_RELAY_ANSWER_BYTES, MAX_WATCH_BYTES } from '@sandyard/dashboard-contract/limits'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { AppError } from '@sandyard/kit/errors/app-error'
import { daemonHeaders } from '../../../daemon/daemon.ts'
import { endWhenSilent, KEEPALIVE_HEADERS, openDaemonTransport, toDaemonCallError } from '../../../daemon/daemon-transport.ts'
import { toFileEntry } from '../../relay/files/file-entry.ts'
import { toRelayError } from '../../relay/relay-error.ts'
import { getReachable, type RelayParts } from '../../relay/sandbox-daemon.ts'
import type { LiveTopic, TopicReader } from '../live-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { parseSandboxId } from './topic-argument.ts'

type Patch = Topics['watch']['patch']
type FileChange = NonNullable<Patch['changes']>[number]

/** Changes that come close together are one patch. */
const BATCH_MS = 150

const KINDS: Readonly<Partial<Record<EventType, FileChange['kind']>>> = {
  [EventType.CREATE]: 'create',
  [EventType.WRITE]: 'write',
  [EventType.REMOVE]: 'remove',
  [EventType.RENAME]: 'rename',
  [EventType.CHMOD]: 'chmod',
}

/** `watch:<id>:<absolute path>` */
export function makeWatchTopic(parts: RelayParts): MakeTopic {
  return ({ teamId, argument }) => {
    const at = argument.indexOf(':')
    const sandboxId = parseSandboxId(argument.slice(0, Math.max(0, at)))
    const path = argument.slice(at + 1)
    if (!path.startsWith('/') || path.includes('\0') || Buffer.byteLength(path) > MAX_PATH_BYTES) {
      throw new AppError('invalid_argument', 'The topic needs an absolute path')
    }
    return new WatchTopic(parts, { teamId, sandboxId, path })
  }
}

/** The changes of one folder, of one stream of the daemon for all pages that show it. */
class WatchTopic implements LiveTopic {
  readonly #readers = new Map<TopicReader, boolean>()
  readonly #ending = new AbortController()
  #isWatching = false
  #waiting: FileChange[] = []
  #waitingBytes = 0
  #isLost = false
  #timer: NodeJS.Timeout | undefined

  constructor(parts: RelayParts, folder: { readonly teamId: string; readonly sandboxId: string; readonly path: string }) {
    void this.#watch(parts, folder).catch((err: unknown) => this.#fail(err))
  }

  join(reader: TopicReader): void {
    this.#readers.set(reader, this.#isWatching)
    if (this.#isWatching) reader.snapshot({})
  }

  leave(reader: TopicReader): void {
    this.#readers.delete(reader)
  }

  hear(): void {}

  end(): void {
    this.#ending.abort()
    clearTimeout(this.#timer)
    this.#readers.clear()
  }

  async #watch(parts: RelayParts, { teamId, sandboxId, path }: { teamId: string; sandboxId: string; path: string }): Promise<void> {
    const { signal } = this.#ending
    const { daemon } = await getReachable(parts, teamId, sandboxId)
    signal.throwIfAborted()
    using transport = openDaemonTransport(daemon, MAX_RELAY_ANSWER_BYTES)
    const left = new AbortController()
    try {
      const messages = createClient(Filesystem, transport.rpc).watchDir(
        { path, includeEntry: true },
        {
          headers: { ...daemonHeaders(daemon, 'root'), ...KEEPALIVE_HEADERS },
          signal: AbortSignal.any([signal, left.signal]),
        },
      )
      for await (const { event } of endWhenSilent(messages, (reason) => left.abort(reason))) {
        if (event.case === 'start') this.#begin()
        if (event.case === 'filesystem') this.#add(event.value)
      }
      throw new AppError('unavailable', 'The sandbox has ended the watch')
    } finally {
      left.abort()
    }
  }

  #begin(): void {
    this.#isWatching = true
    for (const [reader, isLive] of this.#readers) {
      if (!isLive) reader.snapshot({})
      this.#readers.set(reader, true)
    }
  }

  #add({ name, type, entry }: FilesystemEvent): void {
    const kind = KINDS[type]
    if (kind === undefined || this.#isLost) return
    const change: FileChange = { kind, name, ...(entry !== undefined && { entry: toFileEntry(entry) }) }
    this.#waitingBytes += Buffer.byteLength(JSON.stringify(change))
    // A daemon may send whatever it likes.
    if (Buffer.byteLength(name) > MAX_PATH_BYTES || this.#waitingBytes > MAX_WATCH_BYTES) {
      this.#isLost = true
      this.#waiting = []
    } else this.#waiting.push(change)
    this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS)
  }

  #flush(): void {
    this.#timer = undefined
    const patch: Patch = this.#isLost ? { isLost: true } : { changes: this.#waiting }
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isLost = false
    for (const reader of this.#readers.keys()) reader.patch(patch)
  }

  #fail(err: unknown): void {
    if (this.#ending.signal.aborted) return
    const readers = [...this.#readers.keys()]
    this.#readers.clear()
    for (const reader of readers) reader.fail(toRelayError(toDaemonCallError(err)))
  }
}
