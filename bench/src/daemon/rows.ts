import type { BenchRow } from './bench.ts'
import { benchCommands } from './rows/commands.ts'
import { benchCompose } from './rows/compose.ts'
import { benchDownloads } from './rows/downloads.ts'
import { benchGrowth } from './rows/growth.ts'
import { benchMemory } from './rows/memory.ts'
import { SMALL_CALL_ROWS } from './rows/small-calls.ts'
import { benchStart } from './rows/start.ts'
import { benchTerminals } from './rows/terminals.ts'
import { benchTransfer } from './rows/transfer.ts'
import { benchWatch } from './rows/watch.ts'

/** The rows by the name that selects them, in the order in which they run. */
export const ROWS: Readonly<Record<string, BenchRow>> = {
  ...SMALL_CALL_ROWS,
  transfer: benchTransfer,
  downloads: benchDownloads,
  compose: benchCompose,
  watch: benchWatch,
  commands: benchCommands,
  terminals: benchTerminals,
  start: benchStart,
  memory: benchMemory,
  growth: benchGrowth,
}
