import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Weighs about ten times as much as a process of the default priority. */
const NICE = -10

/**
 * Has the kernel run this process, and what it starts from now on, before processes of the default priority: what the engine does for a start takes both
 * processors of a small machine for most of a second, and a create that comes meanwhile would wait for it. Without the right to do so, as for most users
 * that are not root, the priority stays.
 */
export function takePrecedence(): void {
  try {
    // On Linux a priority belongs to a thread: those of V8 and libuv run already, and the main thread waits for them.
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), NICE)
  } catch {
    // EACCES, or a thread that has ended
  }
}
