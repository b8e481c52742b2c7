import { secretsTexts } from '../../texts/secrets-texts.ts'
import '../../styles/secrets.css'

export function SecretsScreen() {
  return <h1>{secretsTexts.title}</h1>
}
