import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { cancelAbandoned } from './cancel-deliveries.ts'
import { DeliverySender, type SenderParts } from './delivery-sender.ts'
import { capPending, forgetDeliveries } from './forget-deliveries.ts'
import { resealWebhooks } from './reseal-webhooks.ts'
import { readOutbox } from './read-outbox.ts'
import { TeamRoom } from './team-room.ts'

const READ_EVERY_MS = 1000
const UPKEEP_EVERY_MS = 60_000
/** Of one turn. */
const MAX_BATCHES = 100

export interface WebhookLoops {
  /** Deliveries are due. */
  readonly onDue: () => void
}

/** Starts the loops that write deliveries, send them and delete old ones; `shutdown` stops them. Without a key they do nothing: nothing could be signed. */
export function startWebhookLoops(parts: Omit<SenderParts, 'keyRing'> & WebhookLoopParts, shutdown: Shutdown): WebhookLoops {
  const { database, keyRing, log, retentionMs } = parts
  if (keyRing === undefined) return { onDue: () => undefined }
  const sender = new DeliverySender({ ...parts, keyRing })
  sender.start()
  shutdown.add('webhook deliveries', () => sender.stop())
  const room = new TeamRoom()
  const reading = runLoop({ name: 'webhook outbox', everyMs: READ_EVERY_MS, log }, async (signal) => {
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch += 1) if (!(await readOutbox(database, room))) return
  })
  shutdown.add('webhook outbox', () => reading.stop())
  const upkeep = runLoop({ name: 'webhook upkeep', everyMs: UPKEEP_EVERY_MS, log }, async () => {
    await forgetDeliveries(database.db, retentionMs)
    await capPending(database.db)
    await cancelAbandoned(database.db)
    await resealWebhooks(database, keyRing)
  })
  shutdown.add('webhook upkeep', () => upkeep.stop())
  return { onDue: () => sender.wake() }
}

interface WebhookLoopParts {
  readonly keyRing: SenderParts['keyRing'] | undefined
  readonly retentionMs: number
}
