import { newSandboxTexts } from '../../texts/new-sandbox-texts.ts'
import '../../styles/new-sandbox.css'

export function NewSandboxScreen() {
  return <h1>{newSandboxTexts.title}</h1>
}
