import { findEnd } from '../after/reports.ts'
import type { ClientParts } from './client-parts.ts'

/** Whether the server reports the end of a sandbox that nobody has killed. Only a kill of the engine may end one. */
export async function isReportedEnd({ databaseUrl, engineDies, tally }: ClientParts, sandboxId: string): Promise<boolean> {
  const reason = engineDies ? await findEnd(databaseUrl, sandboxId) : undefined
  if (reason === undefined) return false
  tally.reported.set(sandboxId, reason)
  return true
}
