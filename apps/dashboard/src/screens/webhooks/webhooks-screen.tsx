import { webhooksTexts } from '../../texts/webhooks-texts.ts'
import '../../styles/webhooks.css'

export function WebhooksScreen() {
  return <h1>{webhooksTexts.title}</h1>
}
