import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SingleFlight } from '../../packages/kit/src/async/single-flight.ts'
import type { Need } from './stage.ts'
import { startTestServer } from './test-server.ts'

/** Nothing of a test's database survives a power cut, and nothing needs to. */
const FAST_AND_UNSAFE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200']

/**
 * Sets up what stages need, each once, when the first stage asks for it; disposing undoes it in reverse. The product's code is
 * loaded as late as that, so that a file that does not even load cannot keep the static checks from saying so.
 */
export class Preparation implements AsyncDisposable {
  readonly #environment: Record<string, string> = {}
  readonly #undo: (() => Promise<void>)[] = []
  readonly #outcomes = new Map<Need, string | undefined>()
  readonly #flight = new SingleFlight<Need, string | undefined>()
  readonly #say: (line: string) => void

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  get environment(): Readonly<Record<string, string>> {
    return this.#environment
  }

  /** @returns why the first need that failed could not be met, or undefined */
  async meet(needs: readonly Need[]): Promise<string | undefined> {
    for (const need of needs) {
      if (!this.#outcomes.has(need)) this.#outcomes.set(need, await this.#flight.run(need, () => this.#attempt(need)))
      const reason = this.#outcomes.get(need)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo.splice(0).toReversed()) {
      await undo().catch((err: unknown) => this.#say(`a clean-up step failed: ${(err as Error).message}`))
    }
  }

  async #attempt(need: Need): Promise<string | undefined> {
    try {
      if (need === 'engine') await (await import('./prepare-engine.ts')).prepareEngine(this.#say)
      if (need === 'database') await this.#startDatabase()
      if (need === 'server') await this.#startServer()
      return undefined
    } catch (err) {
      return `${need}: ${(err as Error).message}`
    }
  }

  async #startDatabase(): Promise<void> {
    const given = process.env['TEST_DATABASE_URL']
    if (given !== undefined) return
    const folder = await mkdtemp(join(tmpdir(), 'sandyard-test-database-'))
    this.#undo.push(() => rm(folder, { recursive: true, force: true }))
    const { startEmbeddedPostgres } = await import('../../apps/standalone/src/postgres/embedded-postgres.ts')
    const { openDataDirectory } = await import('../../apps/standalone/src/data/data-directory.ts')
    const postgres = await startEmbeddedPostgres({
      directory: openDataDirectory(folder),
      port: 0,
      say: this.#say,
      settings: FAST_AND_UNSAFE,
    })
    this.#undo.push(async () => postgres[Symbol.asyncDispose]())
    this.#environment['TEST_DATABASE_URL'] = postgres.url
  }

  async #startServer(): Promise<void> {
    this.#say('starting the server for the acceptance tests ...')
    const server = await startTestServer()
    this.#undo.push(async () => server[Symbol.asyncDispose]())
    Object.assign(this.#environment, server.environment)
  }
}
