import { buildsTexts } from '../../texts/builds-texts.ts'
import '../../styles/builds.css'

export function BuildsScreen() {
  return <h1>{buildsTexts.title}</h1>
}
