/** Runs `work` for each item, at most `width` at once; results are in the order of the items. The first failure ends it after the works in flight. */
export async function inParallel<T, R>(items: readonly T[], width: number, work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, index)
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(width, items.length) }, lane))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
  return results
}
