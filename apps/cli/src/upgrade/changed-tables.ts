const STATEMENT =
  /\b(?:alter\s+table(?:\s+if\s+exists)?(?:\s+only)?|create\s+(?:unique\s+)?index(?:\s+concurrently)?(?:\s+if\s+not\s+exists)?(?:\s+[a-z0-9_]+)?\s+on|create\s+trigger\s+[a-z0-9_]+\s+[a-z ,_]+?\s+on|update|delete\s+from|drop\s+table(?:\s+if\s+exists)?)\s+([a-z0-9_]+)/gi

/** The existing tables that a migration changes, by its text. It locks them while it runs, so their sizes say how long it takes. */
export function changedTables(sql: string): string[] {
  const text = sql.replaceAll(/--[^\n]*/g, '').replaceAll(/\$\$.*?\$\$/gs, '')
  const made = new Set([...text.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?([a-z0-9_]+)/gi)].map((match) => match[1] ?? ''))
  const named = [...text.matchAll(STATEMENT)].map((match) => (match[1] ?? '').toLowerCase())
  return [...new Set(named)].filter((name) => !made.has(name) && name !== 'on' && name !== 'of').sort()
}

/** The sentence at the head of a migration: what it is for. Undefined without one. */
export function purposeOf(sql: string): string | undefined {
  const lines = sql.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  const text = lines
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.replace(/^--\s?/, ''))
    .join(' ')
    .trim()
  return text === '' ? undefined : text
}
