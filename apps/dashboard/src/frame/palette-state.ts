import { signal } from '@preact/signals'

/** Something that the open screen can do, offered by the command palette. */
export interface Command {
  readonly label: string
  readonly run: () => unknown
}

export const isPaletteOpen = signal(false)
export const isKeysOpen = signal(false)
export const screenCommands = signal<readonly Command[]>([])
