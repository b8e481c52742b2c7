import type { BenchRow } from './bench.ts'
import { benchCommands } from './rows/commands.ts'
import { benchCompose } from './rows/compose.ts'
import { benchGrowth } from './rows/growth.ts'
import { benchMemory } from './rows/memory.ts'
import { SMALL_CALL_ROWS } from './rows/small-calls.ts'
import { benchStart } from './rows/start.ts'
import { benchTerminals } from './rows/terminals.ts'
import { benchTransfer } from './rows/transfer.ts'
import { benchWatch } from './rows/watch.ts'

/** By the name that selects it; in the order in which they run. */
export const ROWS: Readonly<Record<string, BenchRow>> = {
  ...SMALL_CALL_ROWS,
  transfer: benchTransfer,
  compose: benchCompose,
  watch: benchWatch,
  commands: benchCommands,
  terminals: benchTerminals,
  start: benchStart,
  memory: benchMemory,
  growth: benchGrowth,
}
