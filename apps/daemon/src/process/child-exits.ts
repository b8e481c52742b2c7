import { waitForChild } from '../sys/libc.ts'

/** How a process ended: with an exit code, or by a signal. */
export type ProcessExit = { readonly code: number } | { readonly signal: number; readonly coreDumped: boolean }

const waiting = new Map<number, (exit: ProcessExit) => void>()

// One signal may stand for many exits, so each asks for all. Only children that are waited for are collected, nobody else's.
process.on('SIGCHLD', () => {
  for (const [pid, resolve] of waiting) {
    const status = waitForChild(pid)
    if (status === undefined) continue
    waiting.delete(pid)
    resolve(toExit(status))
  }
})

/** Collects a child when it has ended. To be called in the same turn in which the child was started, so that no signal comes before. */
export function exitOf(pid: number): Promise<ProcessExit> {
  return new Promise((resolve) => waiting.set(pid, resolve))
}

/** The bits of wait(2). */
function toExit(status: number): ProcessExit {
  const signal = status & 0x7f
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal, coreDumped: (status & 0x80) !== 0 }
}
