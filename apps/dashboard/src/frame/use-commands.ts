import { useEffect } from 'preact/hooks'
import { screenCommands, type Command } from './palette-state.ts'

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
