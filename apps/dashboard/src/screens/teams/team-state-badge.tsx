import type { TeamRow } from '@sandyard/dashboard-contract/teams'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'

export function TeamStateBadge({ team }: { readonly team: Pick<TeamRow, 'isBanned' | 'isBlocked'> }) {
  if (team.isBanned) return <span class="badge badge-bad">{texts.banned}</span>
  if (team.isBlocked) return <span class="badge badge-warn">{texts.blocked}</span>
  return <span class="badge badge-good">{texts.active}</span>
}
