import { sandboxTexts } from '../../texts/sandbox-texts.ts'
import '../../styles/sandbox.css'

export function SandboxScreen() {
  return <h1>{sandboxTexts.title}</h1>
}
