import { sql } from 'kysely'
import { expect } from 'vitest'
import { isServerAlive } from '@sandyard/db/server-lease'
import type { World } from './control-plane.ts'

/** The servers that live have freed every sandbox that a dead server had started for the pool. */
export async function expectNothingParkedByDead({ database }: World): Promise<void> {
  const parked = database.db
    .selectFrom('parked_sandbox')
    .select(['sandbox_id', 'state'])
    .where((eb) => eb.not(isServerAlive(sql.ref('parked_sandbox.server_id'))))
  expect(await parked.execute()).toEqual([])
}

/** Rows, engine and history agree, and nothing is in a transition, claimed, or without an owner. */
export async function expectNothingLeft({ database: { db }, engine }: World): Promise<void> {
  const rows = await db.selectFrom('sandbox').selectAll().execute()
  const wanted = rows.map(({ sandbox_id, state, pause_keep }) => {
    const paused = pause_keep === 'files' ? 'stopped' : 'frozen'
    return `${sandbox_id} ${state === 'paused' ? paused : state}`
  })
  expect([...engine.sandboxes.values()].map(({ spec, state }) => `${spec.sandboxId} ${state}`).toSorted()).toEqual(wanted.toSorted())
  expect(rows.filter(({ egress_applied, egress_version }) => egress_applied !== egress_version)).toEqual([])
  expect(rows.filter(({ egress_claimed_until }) => egress_claimed_until !== null && egress_claimed_until > new Date())).toEqual([])
  for (const { sandbox_id, network } of rows) {
    const found = [...engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === sandbox_id)
    expect(found?.egress.denyOut).toEqual(network.denyOut ?? [])
  }
  expect(await db.selectFrom('parked_sandbox').selectAll().execute()).toEqual([])
  expect(await db.selectFrom('build_job').select('build_id').execute()).toEqual([])
  expect(await db.selectFrom('build').select('build_id').where('status', 'in', ['building', 'snapshotting']).execute()).toEqual([])

  const builds = await db.selectFrom('build').select('image').execute()
  const layers = await db.selectFrom('build_layer').select('image').execute()
  const named = new Set([...builds, ...layers].map(({ image }) => image))
  expect([...engine.images.keys()].filter((image) => !named.has(image))).toEqual([])

  // Every sandbox ends once, with a reason.
  const ended = await db.selectFrom('sandbox_history').select(['sandbox_id', 'reason']).execute()
  expect(ended.filter(({ reason }) => reason === null || reason === '')).toEqual([])
  const ends = await db.selectFrom('event').select('subject').where('kind', '=', 'sandbox.killing').execute()
  expect(ends.map(({ subject }) => subject).toSorted()).toEqual([...new Set(ends.map(({ subject }) => subject))].toSorted())
}
