/** Terminals of node-pty's native code. `loadTerminals` has to be awaited first: few sandboxes open one. */
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
  /** Never blocks: reading and writing fail with EAGAIN where they would. No program inherits it. */
  readonly master: number
  /** What programs open. It belongs to the calling thread's user. */
  readonly path: string
}

/** @throws Error where there can be no more terminals or descriptors */
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
