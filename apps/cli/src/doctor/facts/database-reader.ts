import { describeDataDirectory } from '@sandyard/api/program/data/data-directory'
import { Database, type Db } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { embeddedUrl } from '../../open-database.ts'
import type { DoctorSettings } from './doctor-settings.ts'
import { readOnce } from './read-once.ts'
import { Unreadable } from './unreadable.ts'

export type DatabaseAnswer = { readonly kind: 'answers' | 'absent' } | { readonly kind: 'failed'; readonly reason: string }

const STATEMENT_TIMEOUT_MS = 10_000

/** Reads the database of DATABASE_URL, else the embedded one of the data directory while that runs. */
export class DatabaseReader implements AsyncDisposable {
  readonly #settings: Pick<DoctorSettings, 'databaseUrl' | 'dataDir'>
  #database: Database | undefined
  /** The value of a row of `server_setting`; undefined without the row. */
  readonly setting = (name: string): Promise<string | undefined> =>
    this.read(async (db) => (await db.selectFrom('server_setting').select('value').where('name', '=', name).executeTakeFirst())?.value)
  readonly answer = readOnce(() => this.#ask())
  readonly installation = readOnce(() => this.setting('installation_id'))

  constructor(settings: Pick<DoctorSettings, 'databaseUrl' | 'dataDir'>) {
    this.#settings = settings
  }

  /** @throws Unreadable when the database does not answer, or the query fails */
  async read<T>(query: (db: Db) => Promise<T>): Promise<T> {
    const answer = await this.answer()
    if (answer.kind !== 'answers' || this.#database === undefined) {
      throw new Unreadable(answer.kind === 'absent' ? 'there is no database here' : 'the database does not answer (D1)')
    }
    try {
      return await query(this.#database.db)
    } catch (err) {
      throw new Unreadable(`the database refused a query: ${(err as Error).message}`, { cause: err })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database?.[Symbol.asyncDispose]()
  }

  /** The URL contains a password. */
  get url(): string | undefined {
    return this.#settings.databaseUrl?.reveal() ?? this.#embeddedUrl()
  }

  async #ask(): Promise<DatabaseAnswer> {
    const { url } = this
    if (url === undefined) return { kind: 'absent' }
    this.#database = new Database({
      url,
      applicationName: 'sandyard-doctor',
      log: silentLogger(),
      maxConnections: 2,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    })
    try {
      await this.#database.ping()
      return { kind: 'answers' }
    } catch (err) {
      const { code, message } = err as NodeJS.ErrnoException
      return { kind: 'failed', reason: message === '' ? (code ?? 'no answer') : message }
    }
  }

  #embeddedUrl(): string | undefined {
    try {
      return embeddedUrl(describeDataDirectory(this.#settings.dataDir))
    } catch {
      return undefined
    }
  }
}
