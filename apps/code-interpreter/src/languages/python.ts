import { asciiLiteral, toAscii, type VariableChanges } from './variables-to-code.ts'

/** Python's literals have no pairs of surrogates, so the values come as a literal of JSON. */
export function pythonVariables(changes: VariableChanges): string {
  const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const removed = Object.keys(changes).filter((name) => changes[name] === undefined)
  const lines: string[] = []
  if (Object.keys(set).length > 0) lines.push(`__import__("os").environ.update(${loads(set)})`)
  if (removed.length > 0) lines.push(`[__import__("os").environ.pop(name, None) for name in ${loads(removed)}] and None`)
  return lines.join('\n')
}

function loads(value: unknown): string {
  // Twice: the text of the JSON is ASCII itself, so that the outer literal has no surrogates.
  return `__import__("json").loads(${asciiLiteral(toAscii(JSON.stringify(value)))})`
}
