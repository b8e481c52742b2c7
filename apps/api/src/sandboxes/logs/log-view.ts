import type { SandboxLog, SandboxLogEntry } from '@sandyard/api-contract/sandboxes/sandbox-logs'
import type { SandboxLogRow } from './list-logs.ts'

/** The entry rules of control-plane.md 8.2: every other member of the line is in `fields`, as text. */
export function toSandboxLogEntry({ logged_at, level, message, fields }: SandboxLogRow): SandboxLogEntry {
  const texts = Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)])
  return { timestamp: logged_at.toISOString(), message, level, fields: Object.fromEntries(texts) as Record<string, string> }
}

/** The line as JSON text, which clients parse (clients.md 2). */
export function toSandboxLog({ logged_at, level, message, fields }: SandboxLogRow): SandboxLog {
  return { timestamp: logged_at.toISOString(), line: JSON.stringify({ ...fields, message, level }) }
}
