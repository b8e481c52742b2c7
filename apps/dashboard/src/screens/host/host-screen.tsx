import { hostTexts } from '../../texts/host-texts.ts'
import '../../styles/host.css'

export function HostScreen() {
  return <h1>{hostTexts.title}</h1>
}
