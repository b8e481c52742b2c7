import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
  type Result,
} from '@modelcontextprotocol/sdk/types.js'
import { resultWithin } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Launch } from '../install/install-server.ts'
import { EMPTY, readListings, type Listings } from './listings.ts'

export interface StdioServerOptions {
  readonly name: string
  /** Called before each start. */
  readonly install: () => Promise<Launch>
  readonly log: Logger
  /** The lists of the server have changed. */
  readonly onChange: () => void
}

const CONNECT_TIMEOUT_MS = 30_000
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 30_000]
/** A server that ran so long starts again without a long pause. */
const STABLE_MS = 60_000
const KEPT_STDERR = 2000
/** An installation is not waited for. */
const END_TIMEOUT_MS = 3000

interface Connection {
  /** Resolves when the server has ended. */
  readonly ended: Promise<void>
}

/** One server as a child process. It is started again when it ends, and keeps its lists meanwhile. */
export class StdioServer implements AsyncDisposable {
  readonly name: string
  listings: Listings = EMPTY
  readonly #options: StdioServerOptions
  readonly #stopping = new AbortController()
  #client: Client | undefined
  #connecting: Client | undefined
  #running: Promise<void> | undefined
  readonly #tried = Promise.withResolvers<void>()
  /** The lists are read one after the other, so that the newest ones stay. */
  #reading: Promise<void> = Promise.resolve()

  constructor(options: StdioServerOptions) {
    this.name = options.name
    this.#options = options
  }

  /** Resolves when the first start, with its installation, has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#tried.promise
  }

  /** Starts the server once, and from then on whenever it ends. @throws Error with a sentence, if the first start fails */
  async start(): Promise<void> {
    try {
      this.#running = this.#keepRunning(await this.#connect())
    } finally {
      this.#tried.resolve()
    }
  }

  /** Goes on after a first start that failed, as it does when the server ends. */
  startLater(): void {
    this.#running = this.#keepRunning(undefined)
  }

  /** @throws Error while the server does not run, and what the server answers */
  async request(method: string, params: Record<string, unknown>, options: RequestOptions): Promise<Result> {
    if (this.#client === undefined) throw new Error(`the server "${this.name}" does not run at the moment; it is being started again`)
    return this.#client.request({ method, params }, ResultSchema, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#client?.close(), this.#connecting?.close()])
    if (this.#running !== undefined) await resultWithin(END_TIMEOUT_MS, this.#running)
  }

  async #connect(): Promise<Connection> {
    const { command, cwd, environment } = await this.#options.install()
    const [program = '', ...args] = command
    const transport = new StdioClientTransport({ command: program, args, cwd, env: { ...environment }, stderr: 'pipe' })
    let written = ''
    transport.stderr?.on('data', (chunk: Buffer) => {
      written = (written + chunk.toString()).slice(-KEPT_STDERR)
    })
    const client = new Client({ name: 'sandyard-mcp-gateway', version: '1.0.0' })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no other way
    client.onclose = () => {
      if (this.#client === client) this.#client = undefined
      resolve()
    }
    const reload = (): Promise<void> => this.#reload(client)
    client.setNotificationHandler(ToolListChangedNotificationSchema, reload)
    client.setNotificationHandler(PromptListChangedNotificationSchema, reload)
    client.setNotificationHandler(ResourceListChangedNotificationSchema, reload)
    this.#connecting = client
    try {
      await client.connect(transport, { timeout: CONNECT_TIMEOUT_MS })
      const read = this.#read(client)
      this.#reading = read.catch(() => undefined)
      await read
    } catch (err) {
      await client.close()
      resolve()
      const why = err instanceof Error ? err.message : String(err)
      throw new Error(`the server "${this.name}" did not start: ${why}${written === '' ? '' : `: ${written.trim()}`}`, { cause: err })
    } finally {
      this.#connecting = undefined
    }
    this.#client = client
    this.#options.onChange()
    return { ended }
  }

  #reload(client: Client): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      try {
        await this.#read(client)
        this.#options.onChange()
      } catch (err) {
        this.#options.log.warn({ err, server: this.name }, 'lists of the server could not be read')
      }
    })
    return this.#reading
  }

  async #read(client: Client): Promise<void> {
    this.listings = await readListings(client)
  }

  async #keepRunning(first: Connection | undefined): Promise<void> {
    let connection = first
    let pauseMs = FIRST_PAUSE_MS
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const since = Date.now()
      await connection?.ended
      if (signal.aborted) return
      pauseMs = connection !== undefined && Date.now() - since > STABLE_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      this.#options.log.warn({ server: this.name, pauseMs }, 'server has ended; it is started again')
      await delay(pauseMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      connection = await this.#connect().catch((err: unknown) => {
        this.#options.log.error({ err, server: this.name }, 'server could not be started again')
        return undefined
      })
    }
  }
}
