import { sandboxesTexts } from '../../texts/sandboxes-texts.ts'
import '../../styles/sandboxes.css'

export function SandboxesScreen() {
  return <h1>{sandboxesTexts.title}</h1>
}
