import type { Server, World } from './control-plane.ts'
import { Fuse, type CrashPoint } from './fuse.ts'

/** The points before and after each of the first `steps` persistent steps. */
export function crashPoints(steps: number): CrashPoint[] {
  return Array.from({ length: steps }, (_, index) => index + 1).flatMap((step): CrashPoint[] => [
    { step, when: 'before' },
    { step, when: 'after' },
  ])
}

/** Sends a request to a server that dies at the point. Resolves when it is dead; the request is never answered. */
export async function crashServer(world: World, point: CrashPoint, ask: (dying: Server) => unknown): Promise<void> {
  const fuse = new Fuse(point)
  const dying = await world.startServer({ fuse })
  ask(dying)
  await fuse.blown
}
