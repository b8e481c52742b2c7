import { connect, type Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { within } from '@sandyard/kit/async/within'
import { Secret } from '@sandyard/kit/config/secret'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { VolumeEndpoint, VolumeStore } from '@sandyard/runtime/volume-store'
import { deriveKey } from '../../settings/installation.ts'
import { getVolumeStore } from '../volume-errors.ts'
import { ServicesInUse, type ServiceCaps } from './services-in-use.ts'

export interface FileServiceParts {
  readonly runtime: Pick<SandboxRuntime, 'volumes'>
  readonly tokenSeed: Secret
  readonly caps?: ServiceCaps
  /** Milliseconds of a clock that only goes forward. Default: that of the process. */
  readonly now?: () => number
}

/** Far less than an unused service runs, so that a remembered address is never that of something else. */
const REMEMBERED_MS = 10_000
const MAX_REMEMBERED = 1000
const OPEN_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 5000
/** Nobody listens any more: the service has ended, and its address is free. */
const GONE: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'])

/** Connections to the file services of volumes. A service is started when it is needed; requests that need the same one wait together. */
export class FileServices {
  readonly #parts: FileServiceParts
  readonly #inUse: ServicesInUse
  readonly #now: () => number
  readonly #opened = new LRUCache<string, Promise<VolumeEndpoint>>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS })

  constructor(parts: FileServiceParts) {
    this.#parts = parts
    this.#inUse = new ServicesInUse(parts.caps)
    this.#now = parts.now ?? (() => performance.now())
  }

  /** The key of the file service of a volume. */
  keyOf(volumeId: string): Secret {
    return new Secret(Buffer.from(deriveKey(this.#parts.tokenSeed, `volume server ${volumeId}`)).toString('hex'))
  }

  /**
   * A new connection, which the caller closes.
   *
   * @throws AppError `resource_exhausted` for too many volumes at once, `unavailable` or `deadline_exceeded`; the errors of the runtime
   */
  async connect(volumeId: string, teamId: string): Promise<Socket> {
    this.#inUse.begin(volumeId, teamId, this.#now())
    try {
      const socket = await this.#dial(volumeId)
      socket.once('close', () => this.#inUse.end(volumeId, this.#now()))
      return socket
    } catch (err) {
      this.#inUse.end(volumeId, this.#now())
      throw err
    }
  }

  async #dial(volumeId: string): Promise<Socket> {
    const opened = this.#open(volumeId)
    try {
      return await dial(await opened)
    } catch (err) {
      if (this.#opened.get(volumeId) === opened) this.#opened.delete(volumeId)
      if (!GONE.has((err as NodeJS.ErrnoException).code)) throw toUnavailable(err)
    }
    return dial(await this.#open(volumeId)).catch((err: unknown) => Promise.reject(toUnavailable(err)))
  }

  #open(volumeId: string): Promise<VolumeEndpoint> {
    const known = this.#opened.get(volumeId)
    if (known !== undefined) return known
    const store = getVolumeStore(this.#parts.runtime)
    const options = { what: 'the start of the file service of the volume', timeoutMs: OPEN_TIMEOUT_MS }
    const opened = within(options, (signal) => openOrCreate(store, { name: volumeId, key: this.keyOf(volumeId) }, signal))
    this.#opened.set(volumeId, opened)
    return opened
  }
}

/** A process may have died between the row of a volume and the volume. */
async function openOrCreate(
  store: VolumeStore,
  { name, key }: { readonly name: string; readonly key: Secret },
  signal: AbortSignal,
): Promise<VolumeEndpoint> {
  try {
    return await store.open(name, key, signal)
  } catch (err) {
    if (!isAppError(err, 'not_found')) throw err
  }
  await store.create(name, signal)
  return store.open(name, key, signal)
}

async function dial({ host, port }: VolumeEndpoint): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host, port, noDelay: true })
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })))
  socket.once('error', reject)
  socket.once('connect', () => resolve(socket))
  try {
    return await promise
  } finally {
    socket.setTimeout(0).removeAllListeners('timeout').off('error', reject)
  }
}

function toUnavailable(err: unknown): unknown {
  const { code } = err as NodeJS.ErrnoException
  if (err instanceof AppError || typeof code !== 'string') return err
  return new AppError('unavailable', 'The files of the volume cannot be reached: try again', {
    cause: err,
    headers: { 'retry-after': '1' },
  })
}
