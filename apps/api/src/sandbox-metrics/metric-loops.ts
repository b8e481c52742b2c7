import { deleteOlder } from '@sandyard/db/delete-older'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { RetentionConfig } from '../settings/retention.ts'
import { forgetSamples } from './forget-samples.ts'
import { Sampler, type SamplerParts } from './sampler.ts'

export interface MetricLoopParts extends SamplerParts {
  readonly retention: RetentionConfig
}

/** Several times in a tick, so that the next tick is claimed soon after it begins, also when another server has died. */
const LOOK_EVERY_MS = 1000
const FORGET_EVERY_MS = 60_000

/** Starts the loops that sample sandboxes and delete old metrics and logs; `shutdown` stops them. */
export function startMetricLoops(parts: MetricLoopParts, shutdown: Shutdown): void {
  const { log } = parts
  const sampler = new Sampler(parts)
  const sampling = runLoop({ name: 'sampler', everyMs: LOOK_EVERY_MS, log }, (signal) => sampler.run(signal))
  shutdown.add('sampler', async () => {
    await sampling.stop()
    sampler[Symbol.dispose]()
  })
  const forgetting = runLoop({ name: 'metric retention', everyMs: FORGET_EVERY_MS, log }, () => forgetMetrics(parts))
  shutdown.add('metric retention', () => forgetting.stop())
}

/** Deletes metrics and log lines that are older than their retention. */
export async function forgetMetrics({ database, retention }: Pick<MetricLoopParts, 'database' | 'retention'>): Promise<void> {
  const { db } = database
  await forgetSamples(db, retention.sandboxMetricMs)
  await deleteOlder(db, { table: 'team_metric', time: 'sampled_at', ageMs: retention.teamMetricMs })
  await deleteOlder(db, { table: 'sandbox_log', time: 'logged_at', ageMs: retention.sandboxLogMs })
}
