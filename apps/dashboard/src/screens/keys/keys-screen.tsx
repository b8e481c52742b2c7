import { keysTexts } from '../../texts/keys-texts.ts'
import '../../styles/keys.css'

export function KeysScreen() {
  return <h1>{keysTexts.title}</h1>
}
