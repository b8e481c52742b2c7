import { signal } from '@preact/signals'
import { readStored, writeStored } from './stored.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = signal<Theme>(THEMES.find((name) => name === readStored('theme')) ?? 'system')

/** Sets the attribute that tokens.css reads, now and with each change. */
export function applyTheme(): void {
  theme.subscribe((name) => {
    if (name === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = name
    writeStored('theme', name)
  })
}
