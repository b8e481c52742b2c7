import { usageTexts } from '../../texts/usage-texts.ts'
import '../../styles/usage.css'

export function UsageScreen() {
  return <h1>{usageTexts.title}</h1>
}
