import { MAX_PATH_BYTES, MAX_RELAY_ANSWER_BYTES, MAX_WATCH_BYTES } from '@sandyard/dashboard-contract/limits'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { AppError } from '@sandyard/kit/errors/app-error'
import { daemonHeaders } from '../../../daemon/daemon.ts'
import { endWhenSilent, KEEPALIVE_HEADERS } from '../../../daemon/end-when-silent.ts'
import { loadDaemonRpc } from '../../../daemon/load-daemon-rpc.ts'
import { toRelayError } from '../../relay/relay-error.ts'
import { getReachable, type RelayParts } from '../../relay/sandbox-daemon.ts'
import type { LiveTopic, TopicReader } from '../live-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import type { FileChange } from './to-file-change.ts'
import { parseSandboxId } from './topic-argument.ts'

type Patch = Topics['watch']['patch']

/** Changes that come close together are one patch. */
const BATCH_MS = 150

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
    const { openDaemonClients, toDaemonCallError } = await loadDaemonRpc()
    const { toFileChange } = await import('./to-file-change.ts')
    signal.throwIfAborted()
    using clients = openDaemonClients(daemon, MAX_RELAY_ANSWER_BYTES)
    const left = new AbortController()
    try {
      const messages = clients.files.watchDir(
        { path, includeEntry: true },
        {
          headers: { ...daemonHeaders(daemon, 'root'), ...KEEPALIVE_HEADERS },
          signal: AbortSignal.any([signal, left.signal]),
        },
      )
      for await (const { event } of endWhenSilent(messages, (reason) => left.abort(reason))) {
        if (event.case === 'start') this.#begin()
        if (event.case === 'filesystem') this.#add(toFileChange(event.value))
      }
      throw new AppError('unavailable', 'The sandbox has ended the watch')
    } catch (err) {
      throw toDaemonCallError(err)
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

  #add(change: FileChange | undefined): void {
    if (change === undefined || this.#isLost) return
    this.#waitingBytes += Buffer.byteLength(JSON.stringify(change))
    // A daemon may send whatever it likes.
    if (Buffer.byteLength(change.name) > MAX_PATH_BYTES || this.#waitingBytes > MAX_WATCH_BYTES) {
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
    for (const reader of readers) reader.fail(toRelayError(err))
  }
}
