import type { ActorView } from '@sandyard/dashboard-contract/sandboxes'
import { sandboxTexts as texts } from '../../texts/sandbox-texts.ts'

/** `key ci-main, in the dashboard`. */
export function actorText({ kind, label, viaDashboard }: ActorView): string {
  const named = kind === 'key' || kind === 'user' ? `${texts.actors[kind]} ${label}` : label === '' ? texts.actors[kind] : label
  return viaDashboard === true ? `${named}, ${texts.viaDashboard}` : named
}
