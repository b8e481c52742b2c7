import { loginTexts } from '../../texts/login-texts.ts'
import '../../styles/login.css'

export function LoginScreen() {
  return <h1>{loginTexts.title}</h1>
}
