import { errnoText } from '../sys/errno-text.ts'
import { waitForChild } from '../sys/own-process.ts'

/** How a process ended: with an exit code, by a signal, or unknown to the daemon. */
export type ProcessExit =
  | { readonly code: number }
  | { readonly signal: number; readonly coreDumped: boolean }
  | { readonly failure: string }

const waiting = new Map<number, (exit: ProcessExit) => void>()

// One SIGCHLD may stand for several exits, so every child of this table is checked. Other children are never reaped here.
process.on('SIGCHLD', () => {
  for (const pid of waiting.keys()) collect(pid)
})

/** Reaps a child when it ends, also if it has already ended. */
export function exitOf(pid: number): Promise<ProcessExit> {
  return new Promise((resolve) => {
    waiting.set(pid, resolve)
    collect(pid)
  })
}

/** A failed waitpid(2) is the result of this child only; the others are still reaped. */
function collect(pid: number): void {
  const exit = tryWait(pid)
  if (exit === undefined) return
  waiting.get(pid)?.(exit)
  waiting.delete(pid)
}

function tryWait(pid: number): ProcessExit | undefined {
  try {
    const status = waitForChild(pid)
    return status === undefined ? undefined : toExit(status)
  } catch (error) {
    return { failure: `wait: ${errnoText(error)}` }
  }
}

/** Decodes the status of wait(2). */
function toExit(status: number): ProcessExit {
  const signal = status & 0x7f
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal, coreDumped: (status & 0x80) !== 0 }
}
