import { loadOnce } from '@sandyard/kit/async/load-once'
import type { Logger } from '@sandyard/kit/logging/create-logger'

export type DaemonLog = Pick<Logger, 'error' | 'warn' | 'info'>

/**
 * The daemon's log: JSON lines on stderr, which the engine collects. The logging library is loaded by the first line: a sandbox that
 * has nothing to say starts without it.
 */
export function createDaemonLog(level: string): DaemonLog {
  const loadLogger = loadOnce(() => load(level))
  function write(method: keyof DaemonLog) {
    return (...line: [object, string]) => {
      // A line that cannot be written is lost: what fails here would be logged, and fail again.
      loadLogger()
        .then((logger) => logger[method](...line))
        .catch(() => undefined)
    }
  }
  return { error: write('error'), warn: write('warn'), info: write('info') } as DaemonLog
}

async function load(level: string): Promise<Logger> {
  const { createLogger } = await import('@sandyard/kit/logging/create-logger')
  return createLogger({ name: 'daemon', level, destination: { write: (line) => process.stderr.write(line) } })
}
