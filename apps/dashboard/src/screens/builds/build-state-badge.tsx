import type { BuildState } from '@sandyard/dashboard-contract/templates'
import { buildsTexts } from '../../texts/builds-texts.ts'

const KINDS = { waiting: '', building: 'badge-accent', ready: 'badge-good', failed: 'badge-bad' } satisfies Record<BuildState, string>

export function BuildStateBadge({ state }: { readonly state: BuildState }) {
  return <span class={`badge ${KINDS[state]}`}>{buildsTexts.states[state]}</span>
}
