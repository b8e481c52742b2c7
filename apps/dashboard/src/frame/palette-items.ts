import type { IconName } from '../parts/icon.tsx'
import { me } from '../session/me.ts'
import { frameTexts } from '../texts/frame-texts.ts'
import { paletteTexts } from '../texts/palette-texts.ts'
import { navLinks } from './nav-links.ts'
import { screenCommands } from './palette-state.ts'
import { paths } from './paths.ts'
import { theme, THEMES } from './theme.ts'

export interface PaletteItem {
  readonly icon: IconName
  readonly label: string
  readonly path?: string
  readonly run?: () => unknown
}

/** What needs no server: commands of the open screen first. */
export function fixedItems(): readonly PaletteItem[] {
  const session = me.value
  const links = session === null || session === undefined ? [] : navLinks(session).flat()
  return [
    ...screenCommands.value.map(({ label, run }) => ({ icon: 'play', label, run }) as const),
    { icon: 'plus', label: paletteTexts.newSandbox, path: paths.newSandbox },
    ...links.map(({ icon, path }) => ({ icon, label: paletteTexts.go(frameTexts.screens[icon]), path })),
    ...THEMES.map((name) => ({ icon: 'sun', label: paletteTexts.theme(frameTexts.theme[name]), run: () => (theme.value = name) }) as const),
  ]
}
