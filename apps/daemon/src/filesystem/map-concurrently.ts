/**
 * Maps with at most `width` calls in flight, results in the order of the items. After a failure no call is started, and the promise rejects
 * when the calls in flight have settled. `p-limit` does neither, and allocates a closure and promises for each of up to 100,000 names.
 */
export async function mapConcurrently<T, R>(items: readonly T[], width: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  let failed = false
  async function work(): Promise<void> {
    // The iterator is shared: each worker takes the next item that none has taken.
    for (const [index, item] of queue) {
      if (failed) return
      try {
        results[index] = await map(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const settled = await Promise.allSettled(Array.from({ length: Math.min(width, items.length) }, work))
  const rejected = settled.find((outcome) => outcome.status === 'rejected')
  if (rejected !== undefined) throw rejected.reason
  return results
}
