import { auditTexts } from '../../texts/audit-texts.ts'
import '../../styles/audit.css'

export function AuditScreen() {
  return <h1>{auditTexts.title}</h1>
}
