import type { Random } from '../../../../packages/test-kit/src/seeded-random.ts'
import { connectEngine } from '../../../../packages/runtime-docker/src/engine/connect-engine.ts'
import { roleFilter } from '../../../../packages/runtime-docker/src/labels.ts'
import type { Part } from './part.ts'

/** The guards of the egress rules, one of each server: one of them is killed. Its server replaces it. */
export class GuardPart implements Part {
  readonly kind = 'guard'
  readonly name = 'guard'
  readonly #installation: string
  readonly #engine: string | undefined
  readonly #random: Random

  constructor(installation: string, engine: string | undefined, random: Random) {
    this.#installation = installation
    this.#engine = engine
    this.#random = random
  }

  async kill(): Promise<void> {
    const docker = await connectEngine(this.#engine)
    const guards = await docker.listContainers({ filters: roleFilter(this.#installation, 'guard') })
    const victim = guards[this.#random(Math.max(guards.length, 1))]
    // It may have ended by itself since the list was made.
    if (victim !== undefined)
      await docker
        .getContainer(victim.Id)
        .kill({ signal: 'SIGKILL' })
        .catch(() => undefined)
  }

  async restart(): Promise<void> {
    // Its server does that.
  }
}
