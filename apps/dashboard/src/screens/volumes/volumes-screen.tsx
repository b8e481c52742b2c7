import { volumesTexts } from '../../texts/volumes-texts.ts'
import '../../styles/volumes.css'

export function VolumesScreen() {
  return <h1>{volumesTexts.title}</h1>
}
