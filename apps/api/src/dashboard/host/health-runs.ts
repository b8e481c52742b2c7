import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@sandyard/db/database'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { tellDashboard } from '../tell-dashboard.ts'
import { runDoctor } from './run-doctor.ts'
import { beginRun, endRun, type HealthResult, type HealthRun } from './stored-health.ts'

export interface HealthRunParts {
  readonly database: Pick<Database, 'db'>
  readonly serverId: number
  /** Undefined: this server was started without a command line. */
  readonly environment: Environment | undefined
  readonly log: Logger
}

const RETRY_MS = 2000
const CONTAINER_MARKS = ['/.dockerenv', '/run/.containerenv']
const IN_CONTAINER =
  'The server runs in a container: what only its host shows was skipped or is that of the container. Run "sandyard doctor" on the host to see it.'

/** Runs the checks of `sandyard doctor` in the background: one run at a time in the installation. Its result is in the database. */
export class HealthRuns implements AsyncDisposable {
  readonly #parts: HealthRunParts
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(parts: HealthRunParts) {
    this.#parts = parts
  }

  /** @throws AppError `conflict` while a run goes on; `unimplemented` */
  async start(isDeep: boolean): Promise<void> {
    const { database, serverId, environment } = this.#parts
    if (environment === undefined)
      throw new AppError('unimplemented', 'This server was started without the command line: run "sandyard doctor"')
    if (this.#ending.signal.aborted) throw new AppError('unavailable', 'The server is stopping')
    const run = { runId: randomUUID(), serverId }
    if (!(await beginRun(database.db, run))) throw new AppError('conflict', 'The checks are running already')
    const running = this.#run(run, { environment, isDeep }).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Never rejects. */
  async #run(run: HealthRun, { environment, isDeep }: { readonly environment: Environment; readonly isDeep: boolean }): Promise<void> {
    const { log } = this.#parts
    await this.#tell()
    let result: HealthResult
    try {
      const checks = await runDoctor({ environment, isDeep, signal: this.#ending.signal })
      const isInContainer = CONTAINER_MARKS.some((mark) => existsSync(mark))
      result = { state: 'done', isDeep, checks, message: isInContainer ? IN_CONTAINER : null }
    } catch (err) {
      if (!isAppError(err)) log.error({ err }, 'the checks failed unexpectedly')
      result = { state: 'failed', message: isAppError(err) ? err.message : 'An unexpected error: the log of the server has it' }
    }
    await this.#store(run, result)
    await this.#tell()
  }

  /** Until it is stored: while this server lives, the run counts as one that goes on. */
  async #store(run: HealthRun, result: HealthResult): Promise<void> {
    const { database, log } = this.#parts
    for (;;) {
      try {
        return await endRun(database.db, run, result)
      } catch (err) {
        log.warn({ err }, 'the result of the checks could not be stored yet')
        if (this.#ending.signal.aborted) return
        await delay(RETRY_MS, undefined, { signal: this.#ending.signal }).catch(() => undefined)
      }
    }
  }

  async #tell(): Promise<void> {
    const { database, log } = this.#parts
    await tellDashboard(database.db, { kind: 'host', id: 'health', teamId: undefined }).catch((err: unknown) =>
      log.warn({ err }, 'pages were not told of the checks'),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new AppError('canceled', 'The server was stopped while the checks ran'))
    await Promise.all(this.#running)
  }
}
