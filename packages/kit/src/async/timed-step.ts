/** Starts a stopwatch. The returned function formats the elapsed time: `4.2 s`, `75 s`. */
export function startStopwatch(): () => string {
  const startedAt = performance.now()
  return () => {
    const seconds = (performance.now() - startedAt) / 1000
    return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`
  }
}

/** Runs a long step and reports its start and, at the end, its duration. */
export async function timedStep<T>(say: (line: string) => void, what: string, work: () => Promise<T>): Promise<T> {
  say(`${what} ...`)
  const took = startStopwatch()
  const result = await work()
  say(`${what}: ${took()}`)
  return result
}
