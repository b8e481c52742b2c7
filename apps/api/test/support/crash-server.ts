import { sql } from 'kysely'
import { reconcileNow, type Server, type ServerOptions, type World } from './control-plane.ts'
import { Fuse, type CrashPoint } from './fuse.ts'

/** The points before and after each of the first `steps` persistent steps. */
export function crashPoints(steps: number): CrashPoint[] {
  return Array.from({ length: steps }, (_, index) => index + 1).flatMap((step): CrashPoint[] => [
    { step, when: 'before' },
    { step, when: 'after' },
  ])
}

/** Sends a request to a server that dies at the point. Resolves when it is dead; the request is never answered. */
export async function crashServer(
  world: World,
  point: CrashPoint,
  ask: (dying: Server) => unknown,
  options: Pick<ServerOptions, 'capabilities'> = {},
): Promise<void> {
  const fuse = new Fuse(point)
  const dying = await world.startServer({ fuse, ...options })
  ask(dying)
  await fuse.blown
}

/** Makes all unfinished work of killed servers old enough to count as abandoned, and runs the repairs that every server runs. */
export async function repairAbandoned({ database }: World, server: Server): Promise<void> {
  await database.db
    .updateTable('sandbox')
    .set({
      state_changed_at: sql<Date>`state_changed_at - interval '5 minutes'`,
      egress_claimed_until: sql<Date>`egress_claimed_until - interval '5 minutes'`,
    })
    .execute()
  await reconcileNow(server)
  // The first pass settles transitions; the second one finishes what they became.
  await reconcileNow(server)
}
