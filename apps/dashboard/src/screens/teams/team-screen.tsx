import { useRoute } from 'preact-iso/router'
import { TeamPanels } from './team-panels.tsx'
import '../../styles/teams.css'

export function TeamScreen() {
  const { teamId = '' } = useRoute().params
  return (
    <div class="stack">
      <TeamPanels key={teamId} teamId={teamId} />
    </div>
  )
}
