import type { ITheme } from '@xterm/xterm'
import { useColours } from '../../../parts/use-colours.ts'

const NAMES = ['raised', 'text', 'accent'] as const

/** The sixteen colours in both schemes; xterm raises those that are too faint on their ground (`minimumContrastRatio`). */
const LIGHT: ITheme = {
  black: '#24292f',
  red: '#b3261e',
  green: '#146c2e',
  yellow: '#8a5300',
  blue: '#0b57c2',
  magenta: '#8a2a8f',
  cyan: '#0b6672',
  white: '#6b7280',
  brightBlack: '#57606a',
  brightRed: '#c4342b',
  brightGreen: '#1a7f37',
  brightYellow: '#9a6700',
  brightBlue: '#1f6feb',
  brightMagenta: '#a040a5',
  brightCyan: '#137a88',
  brightWhite: '#4b5563',
}
const DARK: ITheme = {
  black: '#3b404a',
  red: '#ff8f86',
  green: '#6fd68c',
  yellow: '#f0b65a',
  blue: '#82b4ff',
  magenta: '#e7a0ea',
  cyan: '#6fd0dc',
  white: '#d5d9e0',
  brightBlack: '#8a909c',
  brightRed: '#ffb0a9',
  brightGreen: '#98e6ad',
  brightYellow: '#ffd08a',
  brightBlue: '#a9ccff',
  brightMagenta: '#f2c1f4',
  brightCyan: '#9be2eb',
  brightWhite: '#ffffff',
}

/** The theme of the terminal in the page's scheme. */
export function useTerminalTheme(): ITheme {
  const { raised: ground, text, accent } = useColours(NAMES)
  return {
    ...(isDark(ground) ? DARK : LIGHT),
    background: ground,
    foreground: text,
    cursor: accent,
    cursorAccent: ground,
    selectionBackground: isDark(ground) ? '#3a4a66' : '#bcd6ff',
  }
}

function isDark(colour: string): boolean {
  const [red = 255, green = 255, blue = 255] = (colour.match(/[\d.]+/g) ?? []).map(Number)
  return red + green + blue < 382
}
