import type { Counts } from './counts.ts'

/** One line of the gate: a static check or a project of tests. */
export interface Stage {
  readonly name: string
  /** What must have been prepared; a stage whose need failed is left out, with the reason. */
  readonly needs?: readonly Need[]
  run(context: StageContext): Promise<Counts>
}

export type Need = 'engine' | 'database' | 'server'

interface StageContext {
  /** Variables for the tests, such as the database's URL. */
  readonly environment: Readonly<Record<string, string>>
}
