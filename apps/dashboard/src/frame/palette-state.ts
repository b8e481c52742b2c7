import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Something that the open screen can do, offered by the command palette. */
export interface Command {
  readonly label: string
  readonly run: () => unknown
}

export const isPaletteOpen = signal(false)
export const isKeysOpen = signal(false)
export const screenCommands = signal<readonly Command[]>([])

/** Offers commands in the palette while the component is shown. `key` says when they are others. */
export function useCommands(key: string, commands: () => readonly Command[]): void {
  useEffect(() => {
    const own = commands()
    screenCommands.value = [...screenCommands.value, ...own]
    return () => {
      screenCommands.value = screenCommands.value.filter((command) => !own.includes(command))
    }
    // `commands` is another function in each render.
  }, [key])
}
