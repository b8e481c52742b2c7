import type { Counts } from './counts.ts'

/** One line of the gate: a static check or a project of tests. */
export interface Stage {
  readonly name: string
  /** The needs of the stage. When one fails, the stage is skipped, with the reason. */
  readonly needs?: readonly Need[]
  /** Whether the stage runs side by side with the stage before it: both wait more than they compute. */
  readonly isConcurrent?: boolean
  /** Whether it runs only when `--only` names it. */
  readonly isByHand?: boolean
  run(context: StageContext): Promise<Counts>
}

export type Need = 'engine' | 'database' | 'server' | 'test-packages' | 'browser'

interface StageContext {
  /** Variables for the tests, such as the database's URL. */
  readonly environment: Readonly<Record<string, string>>
}
