import { randomUUID } from 'node:crypto'
import type { Updateable } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import type { SandboxState, SandboxTable } from '@sandyard/db/schema/sandbox'

/** Rows of sandboxes, changed and announced as the control plane does. */
export class SandboxRows {
  readonly #database: Database
  readonly #teamId = randomUUID()
  readonly #buildId = randomUUID()

  private constructor(database: Database) {
    this.#database = database
  }

  /** Inserts the rows that sandboxes refer to. */
  static async create(database: Database): Promise<SandboxRows> {
    const rows = new SandboxRows(database)
    const { db } = database
    await db.insertInto('team').values({ id: rows.#teamId, name: 't', slug: 't', email: 't@x' }).execute()
    await db.insertInto('template').values({ template_id: 't1', team_id: rows.#teamId, source: 'template' }).execute()
    const image = { image: 'x', cpu_count: 1, memory_mib: 512, disk_mib: 0, default_user: 'user', default_workdir: '/' }
    await db
      .insertInto('build')
      .values({ build_id: rows.#buildId, template_id: 't1', status: 'ready', ...image })
      .execute()
    return rows
  }

  /** A secured sandbox in the state `starting`. */
  async insert(sandboxId: string): Promise<void> {
    const identity = { team_id: this.#teamId, template_id: 't1', build_id: this.#buildId }
    await this.change(sandboxId, (tx) =>
      tx
        .insertInto('sandbox')
        .values({ sandbox_id: sandboxId, incarnation: 1, ...identity, state: 'starting', is_secure: true })
        .execute(),
    )
  }

  async setState(sandboxId: string, state: SandboxState, more: Updateable<SandboxTable> = {}): Promise<void> {
    const now = new Date()
    const paused = state === 'paused' ? ({ pause_keep: 'memory', pause_handle: '{}', paused_at: now } as const) : {}
    await this.change(sandboxId, (tx) =>
      tx
        .updateTable('sandbox')
        .set({ state, started_at: now, expires_at: now, ...paused, ...more })
        .where('sandbox_id', '=', sandboxId)
        .execute(),
    )
  }

  async change(sandboxId: string, work: (tx: Tx) => Promise<unknown>): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await work(tx)
      await notify(tx, CHANNELS.routeChanged, sandboxId)
    })
  }
}
