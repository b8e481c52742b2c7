/** Reads on the first call. Unlike `loadOnce` it keeps a failure too: all checks see the same facts, and none waits for a deadline again. */
export function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  return () => (reading ??= read())
}
