/**
 * Runs `load` on the first call and returns its result to every later call. Calls during the load share it. A failure rejects the calls
 * that wait for it and is not cached: the next call loads again.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  async function attempt(): Promise<T> {
    try {
      return await load()
    } catch (error) {
      loading = undefined
      throw error
    }
  }
  return () => (loading ??= attempt())
}
