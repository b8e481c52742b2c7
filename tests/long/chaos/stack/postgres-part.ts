import { openDataDirectory } from '../../../../apps/api/src/program/data/data-directory.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../../apps/standalone/src/postgres/embedded-postgres.ts'
import { pollUntil } from '../../../../packages/kit/src/async/poll-until.ts'
import { isAlive } from '../../../acceptance/support/processes.ts'
import type { Part } from './part.ts'

/** Commits survive a kill of Postgres. They need not survive a power cut, so nothing waits for the disk. */
const SETTINGS = ['fsync=off', 'max_connections=100']
const END_TIMEOUT_MS = 10_000

/** The database, on one port with the same files all the time. */
export class PostgresPart implements Part, AsyncDisposable {
  readonly kind = 'postgres'
  readonly name = 'postgres'
  readonly #folder: string
  readonly #port: number
  #running: EmbeddedPostgres | undefined

  constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
  }

  get url(): string {
    if (this.#running === undefined) throw new Error('Postgres was not started')
    return this.#running.url
  }

  async kill(): Promise<void> {
    const { pid, ended } = this.#running ?? { pid: 0, ended: undefined }
    if (pid === 0) return
    process.kill(pid, 'SIGKILL')
    await ended
    await pollUntil({ what: 'the end of Postgres', timeoutMs: END_TIMEOUT_MS, everyMs: 10 }, () => (isAlive(pid) ? undefined : true))
  }

  async restart(): Promise<void> {
    const directory = openDataDirectory(this.#folder)
    this.#running = await startEmbeddedPostgres({ directory, port: this.#port, say: () => undefined, settings: SETTINGS })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.[Symbol.asyncDispose]()
  }
}
