import type { Db } from '@sandyard/db/database'
import { readHostAddresses } from '@sandyard/db/host-addresses'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { TargetAddresses } from './target-addresses.ts'

/** As often as the gateway tells them. */
const READ_EVERY_MS = 10_000

/** Follows the addresses of the engine's host, which the egress gateway tells. They are read once before this returns, so that no delivery goes before. */
export async function followHost(db: Db, targets: TargetAddresses, log: Logger): Promise<Loop> {
  const read = async (): Promise<void> => targets.setHost(await readHostAddresses(db))
  await read()
  return runLoop({ name: 'host addresses', everyMs: READ_EVERY_MS, log }, read)
}
