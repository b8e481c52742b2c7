import pLimit from 'p-limit'

/** A repair that hangs occupies one of these places until its deadline; the others continue. */
export const REPAIRS_AT_ONCE = 4

/**
 * Runs a repair for every item, a few at a time. A failed repair does not stop the others. After `signal` has aborted no new one begins.
 *
 * @throws AggregateError of all failures, after the last repair
 */
export async function repairEach<T>(items: readonly T[], repair: (item: T) => Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const limit = pLimit(REPAIRS_AT_ONCE)
  const outcomes = await Promise.allSettled(items.map((item) => limit(async () => signal?.aborted || (await repair(item)))))
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  if (reasons.length > 0) throw new AggregateError(reasons, `${reasons.length} of ${items.length} repairs failed`)
}
