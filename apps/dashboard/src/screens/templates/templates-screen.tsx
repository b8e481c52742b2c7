import { templatesTexts } from '../../texts/templates-texts.ts'
import '../../styles/templates.css'

export function TemplatesScreen() {
  return <h1>{templatesTexts.title}</h1>
}
