import { teamsTexts } from '../../texts/teams-texts.ts'
import '../../styles/teams.css'

export function TeamScreen() {
  return <h1>{teamsTexts.title}</h1>
}
