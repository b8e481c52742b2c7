import { teamsTexts } from '../../texts/teams-texts.ts'
import '../../styles/teams.css'

export function TeamsScreen() {
  return <h1>{teamsTexts.title}</h1>
}
