import { describeDataDirectory } from '@sandyard/api/program/data/data-directory'
import { Database, type Db } from '@sandyard/db/database'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { embeddedUrl } from '../../open-database.ts'
import type { DoctorSettings } from './doctor-settings.ts'
import { readOnce } from './read-once.ts'
import { Unreadable } from './unreadable.ts'

export type DatabaseAnswer = { readonly kind: 'answers' } | { readonly kind: 'absent' | 'failed'; readonly reason: string }

const STATEMENT_TIMEOUT_MS = 10_000

/** Reads the database of DATABASE_DIRECT_URL or DATABASE_URL, else the embedded one of the data directory while that runs. */
export class DatabaseReader implements AsyncDisposable {
  readonly #settings: Pick<DoctorSettings, 'databaseUrl' | 'directUrl' | 'dataDir'>
  #database: Database | undefined
  /** The value of a row of `server_setting`; undefined without the row. */
  readonly setting = (name: string): Promise<string | undefined> =>
    this.read(async (db) => (await db.selectFrom('server_setting').select('value').where('name', '=', name).executeTakeFirst())?.value)
  readonly answer = readOnce(() => this.#ask())
  readonly installation = readOnce(() => this.setting('installation_id'))

  constructor(settings: Pick<DoctorSettings, 'databaseUrl' | 'directUrl' | 'dataDir'>) {
    this.#settings = settings
  }

  /** @throws Unreadable when the database does not answer, or the query fails */
  async read<T>(query: (db: Db) => Promise<T>): Promise<T> {
    const answer = await this.answer()
    if (answer.kind !== 'answers' || this.#database === undefined) {
      throw new Unreadable(answer.kind === 'absent' ? 'no database was found (D1)' : 'the database does not answer (D1)')
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

  /** It contains a password. Undefined when there is none, or this user may not read the files of the embedded one. */
  get url(): string | undefined {
    try {
      return this.#findUrl()
    } catch {
      return undefined
    }
  }

  #findUrl(): string {
    const { databaseUrl, directUrl, dataDir } = this.#settings
    return (directUrl ?? databaseUrl)?.reveal() ?? embeddedUrl(describeDataDirectory(dataDir))
  }

  async #ask(): Promise<DatabaseAnswer> {
    let url: string
    try {
      url = this.#findUrl()
    } catch (err) {
      return { kind: 'absent', reason: (err as Error).message }
    }
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
}
