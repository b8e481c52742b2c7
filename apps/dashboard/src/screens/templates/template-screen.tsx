import { templatesTexts } from '../../texts/templates-texts.ts'
import '../../styles/templates.css'

export function TemplateScreen() {
  return <h1>{templatesTexts.title}</h1>
}
