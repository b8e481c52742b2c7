import type { Comparison } from '../report.ts'
import type { Programs } from './containers.ts'
import type { Daemons } from './daemons.ts'
import type { BareServer } from './start-bare-server.ts'

/** The inputs of a row. Earlier rows have already used the daemons and the bare server. */
export interface Bench {
  readonly programs: Programs
  readonly daemons: Daemons
  readonly bare: BareServer
}

/** Measures one row of design.md 5, or several related rows, once. */
export type BenchRow = (bench: Bench) => Promise<Comparison[]>

/** The row cannot be measured on this machine. This is not a failure: the reason is printed instead. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured'
}
