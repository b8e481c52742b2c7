import { AppError } from '@sandyard/kit/errors/app-error'
import type { DaemonConfig } from './config.ts'
import { DaemonState } from './init/daemon-state.ts'
import { LogRing } from './logs/log-ring.ts'
import { createDaemonLog, type DaemonLog } from './loggers.ts'
import { StartCounts } from './process/start-counts.ts'
import { ProcessTable } from './process/process-table.ts'
import { AccountDatabase } from './users/account-database.ts'
import { Watchers } from './watch/watchers.ts'

/** The parts of the daemon, made once. Entry and route files take it; everything else takes what it needs. */
export interface DaemonContext {
  readonly config: DaemonConfig
  readonly log: DaemonLog
  readonly state: DaemonState
  readonly accounts: AccountDatabase
  readonly processes: ProcessTable
  readonly starts: StartCounts
  readonly watchers: Watchers
  /** What the control plane reads of this sandbox's log. */
  readonly logs: LogRing
  /** Aborts when the daemon is about to exit: every stream then ends with an envelope. The reason is the AppError that clients get. */
  readonly shutdown: AbortSignal
  /** Aborts `shutdown`. */
  shutDown(): void
}

export function createContext(config: DaemonConfig): DaemonContext {
  const shutdown = new AbortController()
  return {
    config,
    log: createDaemonLog(config.logLevel),
    state: new DaemonState(),
    accounts: new AccountDatabase(),
    processes: new ProcessTable(),
    starts: new StartCounts(),
    watchers: new Watchers(shutdown.signal),
    logs: new LogRing(),
    shutdown: shutdown.signal,
    // The code makes clients check whether the sandbox still runs.
    shutDown: () => shutdown.abort(new AppError('unavailable', 'the sandbox is shutting down')),
  }
}
