import type { Database } from '@sandyard/db/database'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { ApiClient } from './api-client.ts'
import { readCliConfig, type CliConfig } from './config.ts'
import { findConnection, type Connection } from './connection.ts'
import type { Output } from './output.ts'

/** A client of the Docker engine. */
export type Engine = Awaited<ReturnType<typeof connectEngine>>

export interface CliSurroundings {
  readonly environment: Environment
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  readonly output: Output
  /** Aborts at SIGINT and SIGTERM. */
  readonly signal: AbortSignal
}

/**
 * What commands work with. Each part is made when a command first asks for it: help needs no valid settings, and most commands need neither
 * the database nor the engine.
 */
export class CliParts implements AsyncDisposable {
  readonly environment: Environment
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  readonly output: Output
  readonly signal: AbortSignal
  #config: CliConfig | undefined
  #connection: Connection | undefined
  #api: ApiClient | undefined
  #database: Promise<Database> | undefined
  #engine: Promise<Engine> | undefined

  constructor({ environment, cwd, stdin, output, signal }: CliSurroundings) {
    this.environment = environment
    this.cwd = cwd
    this.stdin = stdin
    this.output = output
    this.signal = signal
  }

  /** @throws ConfigError */
  get config(): CliConfig {
    this.#config ??= readCliConfig(this.environment)
    return this.#config
  }

  get connection(): Connection {
    this.#connection ??= findConnection(this.config, this.cwd)
    return this.#connection
  }

  get api(): ApiClient {
    this.#api ??= new ApiClient(this.connection, this.signal)
    return this.#api
  }

  /** The database of the server, for what the API does not serve. @throws CliFailure `notReachable` */
  database(): Promise<Database> {
    this.#database ??= import('./open-database.ts').then(({ openDatabase }) => openDatabase(this.config, this.connection))
    return this.#database
  }

  /** The Docker engine of DOCKER_HOST, else the local one. @throws AppError `unavailable` */
  engine(): Promise<Engine> {
    this.#engine ??= import('@sandyard/runtime-docker/engine/connect-engine').then(({ connectEngine }) =>
      connectEngine(this.config.dockerHost),
    )
    return this.#engine
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const database = await this.#database?.catch(() => undefined)
    await database?.[Symbol.asyncDispose]()
  }
}
