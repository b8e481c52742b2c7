import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scratchFolder } from '../../packages/test-kit/src/scratch-folder.ts'
import type { Need } from './stage.ts'
import { startTestServer } from './test-server.ts'

/**
 * Prepares what stages need, each once, when the first stage needs it or a little earlier; disposing undoes it in reverse. The product's
 * code is loaded after the static checks, so that a file that fails to load cannot hide their results.
 */
export class Preparation implements AsyncDisposable {
  readonly #environment: Record<string, string> = {}
  readonly #undo: (() => Promise<void>)[] = []
  readonly #attempts = new Map<Need, Promise<string | undefined>>()
  readonly #say: (line: string) => void

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  get environment(): Readonly<Record<string, string>> {
    return this.#environment
  }

  /** @returns the failure of the first need that could not be met, or undefined */
  async meet(needs: readonly Need[]): Promise<string | undefined> {
    for (const need of needs) {
      const reason = await this.#attempt(need)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /** Starts preparations for later stages that earlier stages do not change: the engine, its images, and the browser. */
  beginEarly(needs: readonly Need[]): void {
    for (const need of ['engine', 'browser'] as const) {
      if (needs.includes(need)) void this.#attempt(need)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#attempts.values())
    for (const undo of this.#undo.splice(0).toReversed()) {
      await undo().catch((err: unknown) => this.#say(`a clean-up step failed: ${(err as Error).message}`))
    }
  }

  /** Never rejects; each need is attempted once. */
  #attempt(need: Need): Promise<string | undefined> {
    const attempt = this.#attempts.get(need) ?? this.#provide(need)
    this.#attempts.set(need, attempt)
    return attempt
  }

  async #provide(need: Need): Promise<string | undefined> {
    try {
      if (need === 'engine') await (await import('./prepare-engine.ts')).prepareEngine(this.#say)
      if (need === 'database') await this.#startDatabase()
      if (need === 'server') await this.#startServer()
      if (need === 'test-packages') await (await import('./test-packages.ts')).ensureTestPackages(this.#say)
      if (need === 'browser')
        this.#environment['SANDYARD_TEST_BROWSER'] = await (await import('./test-browser.ts')).ensureTestBrowser(this.#say)
      return undefined
    } catch (err) {
      return `${need}: ${(err as Error).message}`
    }
  }

  async #startDatabase(): Promise<void> {
    const given = process.env['TEST_DATABASE_URL']
    if (given !== undefined) return
    const folder = await mkdtemp(join(scratchFolder(), 'sandyard-test-database-'))
    this.#undo.push(() => rm(folder, { recursive: true, force: true }))
    const { startEmbeddedPostgres } = await import('../../apps/standalone/src/postgres/embedded-postgres.ts')
    const { openDataDirectory } = await import('../../apps/api/src/program/data/data-directory.ts')
    const { FAST_AND_UNSAFE, hashPasswordAgain } = await import('../../packages/test-kit/src/postgres-server.ts')
    const postgres = await startEmbeddedPostgres({
      directory: openDataDirectory(folder),
      port: 0,
      say: this.#say,
      settings: FAST_AND_UNSAFE,
    })
    this.#undo.push(async () => postgres[Symbol.asyncDispose]())
    await hashPasswordAgain(postgres.url)
    this.#environment['TEST_DATABASE_URL'] = postgres.url
  }

  async #startServer(): Promise<void> {
    this.#say('starting the server for the acceptance tests ...')
    const server = await startTestServer()
    this.#undo.push(async () => server[Symbol.asyncDispose]())
    Object.assign(this.#environment, server.environment)
  }
}
