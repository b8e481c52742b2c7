import type { Daemon } from '../../daemon/daemon.ts'
import { startProcess } from '../../daemon/start-process.ts'

/**
 * Sends a signal to all processes except the init process, the daemon and this shell. Returns whether there was any. Uses shell builtins
 * only: the sandbox may be at its process limit.
 */
const FUNCTIONS = `
each() {
  found=1
  for path in /proc/[0-9]*; do
    pid=\${path#/proc/}
    case $pid in 1 | $$ | $PPID) ;; *) kill "-$1" "$pid" 2>/dev/null && found=0 ;; esac
  done
  return $found
}
`
/** Stops all processes first, so that none can fork. Each round finds the processes that the former one missed. */
const KILL = `for signal in STOP STOP STOP STOP STOP KILL KILL; do each "$signal"; done; exit 0`
/** Like a system shutdown: databases flush their data, and lock files are removed. */
const TERMINATE = `each TERM; for second in 1 2 3 4 5; do each 0 || break; sleep 1; done`
const TIMEOUT_MS = 60_000

/**
 * Kills the processes that a command left running.
 *
 * @throws DaemonCallError, also when the sandbox is at its process limit; the abort reason
 */
export function endLeftovers(daemon: Daemon, signal: AbortSignal): Promise<void> {
  return run(daemon, `${FUNCTIONS}\n${KILL}`, signal)
}

/** Terminates all processes; kills those that do not end within a few seconds. */
export function endGently(daemon: Daemon, signal: AbortSignal): Promise<void> {
  return run(daemon, `${FUNCTIONS}\n${TERMINATE}\n${KILL}`, signal)
}

async function run(daemon: Daemon, script: string, signal: AbortSignal): Promise<void> {
  const request = { cmd: '/bin/sh', args: ['-c', script], user: 'root', cwd: '/', timeoutMs: TIMEOUT_MS }
  for await (const event of startProcess(daemon, request, signal)) if (event.kind === 'end') return
}
