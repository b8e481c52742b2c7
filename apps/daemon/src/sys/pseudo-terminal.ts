/** Terminals through node-pty's native code. Callers must await `loadTerminals` first; it is loaded late because few sandboxes open a terminal. */
import { closeSync } from 'node:fs'
import { loadOnce } from '@sandyard/kit/async/load-once'
import type { requireBinary } from 'node-pty/requireBinary.js'
import { duplicate } from './descriptors.ts'

type Native = ReturnType<typeof requireBinary>

let native: Native | undefined

export const loadTerminals = loadOnce(async () => {
  const library = await import('node-pty/requireBinary.js')
  native = library.requireBinary('pty.node')
})

/** Only 16 bits of each number count (envd.md 8.5). */
export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

export interface PseudoTerminal {
  /** Non-blocking, and no program inherits it. */
  readonly master: number
  /** The path that programs open. It belongs to the user of the calling thread. */
  readonly path: string
}

/** @throws Error if there are no free terminals or descriptors */
export function openPseudoTerminal({ cols, rows }: TerminalSize): PseudoTerminal {
  const { master, slave, pty } = loaded().open(cols, rows)
  try {
    // The library's own descriptors would be inherited by every program that is executed.
    return { master: duplicate(master), path: pty }
  } finally {
    closeSync(slave)
    closeSync(master)
  }
}

/** Programs in the foreground get SIGWINCH when the size changes. */
export function resizeTerminal(master: number, { cols, rows }: TerminalSize): void {
  loaded().resize(master, cols, rows)
}

function loaded(): Native {
  if (native === undefined) throw new Error('node-pty is not loaded')
  return native
}
