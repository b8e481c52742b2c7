import type { Random } from '../../../../packages/test-kit/src/seeded-random.ts'
import type { Connection } from '../stack/chaos-stack.ts'
import type { Tally } from '../tally.ts'
import type { KnownImage, KnownSandbox } from './known-sandbox.ts'

/** What the actions of one client work with. */
export interface ClientParts {
  /** Distinguishes the clients of a run. */
  readonly index: number
  readonly connection: Connection
  readonly random: Random
  readonly tally: Tally
  /** To learn what the server reports of a sandbox that is gone. */
  readonly databaseUrl: string
  /** The engine is killed too: then sandboxes may end and lose their memory, if the server reports it. */
  readonly engineDies: boolean
  readonly sandboxes: KnownSandbox[]
  readonly images: KnownImage[]
  /** Returns another number each time. */
  readonly nextNumber: () => number
}

/** A random element. @throws Error when there is none */
export function pick<T>(random: Random, all: readonly T[]): T {
  const found = all[random(all.length)]
  if (found === undefined) throw new Error('there is nothing to pick from')
  return found
}
