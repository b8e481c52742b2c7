import { call } from '../api/call.ts'
import { paletteTexts } from '../texts/palette-texts.ts'
import type { PaletteItem } from './palette-items.ts'
import { paths } from './paths.ts'

const MOST = 6
const ALL_STATES = 'running,paused,starting,ending,ended'

/** Sandboxes and templates whose id or name has the text. @throws ApiFailure; the abort reason */
export async function findItems(text: string, signal: AbortSignal): Promise<readonly PaletteItem[]> {
  if (text.length < 2) return []
  const [sandboxes, templates] = await Promise.all([
    call('GET /sandboxes', { query: { search: text, state: ALL_STATES, limit: MOST }, signal }),
    call('GET /templates', { query: { search: text, limit: MOST }, signal }),
  ])
  return [
    ...sandboxes.data.flatMap(({ sandboxId, state }): PaletteItem[] => [
      { icon: 'sandboxes', label: paletteTexts.openSandbox(sandboxId), path: paths.sandbox(sandboxId) },
      ...(state === 'running'
        ? [{ icon: 'terminal', label: paletteTexts.openTerminal(sandboxId), path: paths.sandbox(sandboxId, 'terminal') } as const]
        : []),
    ]),
    ...templates.data.map(({ templateId, names }): PaletteItem => ({
      icon: 'templates',
      label: paletteTexts.openTemplate(names[0] ?? templateId),
      path: paths.template(templateId),
    })),
  ]
}
