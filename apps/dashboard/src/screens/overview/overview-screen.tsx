import { overviewTexts } from '../../texts/overview-texts.ts'
import '../../styles/overview.css'

export function OverviewScreen() {
  return <h1>{overviewTexts.title}</h1>
}
