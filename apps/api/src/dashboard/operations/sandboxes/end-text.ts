import type { ActorView } from '@sandyard/dashboard-contract/sandboxes'

const TEXTS: Readonly<Record<string, string>> = {
  expired: 'Its end time was reached.',
  lost: 'It was no longer on the engine: its container ended, or somebody removed it.',
  create_failed: 'It could not be started.',
  create_abandoned: 'The server that started it stopped before it was ready.',
  engine_moved: 'The installation was moved to another engine.',
  restored: 'The installation was restored from a backup, which has no running sandboxes.',
}

/** Why a sandbox has ended, as a sentence. */
export function endText(reason: string, { kind, label, viaDashboard = false }: ActorView): string {
  const text = TEXTS[reason]
  if (text !== undefined) return text
  const where = viaDashboard ? ' in the dashboard' : ''
  if (kind === 'key') return `It was killed with the key "${label}"${where}.`
  if (kind === 'user') return `It was killed by ${label}${where}.`
  if (kind === 'admin') return `It was killed by an administrator${where}.`
  if (kind === 'server') return `This server ended it (${reason}).`
  return reason === 'killed' ? 'It was killed.' : `It ended: ${reason}.`
}
