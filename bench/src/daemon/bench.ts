import type { Comparison } from '../report.ts'
import type { Programs } from './containers.ts'
import type { Daemons } from './daemons.ts'
import type { BareServer } from './start-bare-server.ts'

/** What a row may use. The daemons and the bare server have served other rows before. */
export interface Bench {
  readonly programs: Programs
  readonly daemons: Daemons
  readonly bare: BareServer
}

/** Measures one row of design.md 5, or several that belong together, once. */
export type BenchRow = (bench: Bench) => Promise<Comparison[]>

/** The row cannot be measured here, and that is nobody's fault: the reason is printed in its place. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured'
}
