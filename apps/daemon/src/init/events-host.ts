import { readFile, writeFile } from 'node:fs/promises'

const HOST = 'events.e2b.local'

/**
 * Has the name of the platform's event collector lead to `ip` (envd.md 5.5). The file is written in place, because an engine mounts it
 * into the container and a mount cannot be replaced.
 *
 * @param path `/etc/hosts` in a sandbox
 */
export async function pointEventsHost(path: string, ip: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  const changed = withHostEntry(text, ip)
  if (changed !== text) await writeFile(path, changed)
}

/** The hosts file with exactly one entry of the name; the text as it is where that is so already. */
export function withHostEntry(text: string, ip: string): string {
  const lines = text.replace(/\n$/, '').split('\n')
  const own = lines.filter((line) => namesOf(line).includes(HOST))
  if (own.length === 1 && addressOf(own[0] ?? '') === ip) return text
  const others = lines.flatMap((line) => withoutHost(line) ?? [])
  return `${[...others, `${ip}\t${HOST}`].join('\n')}\n`
}

/** Undefined when nothing is left of the line. */
function withoutHost(line: string): string | undefined {
  const names = namesOf(line)
  if (!names.includes(HOST)) return line
  const others = names.filter((name) => name !== HOST)
  return others.length === 0 ? undefined : `${addressOf(line)}\t${others.join(' ')}`
}

function addressOf(line: string): string {
  return wordsOf(line)[0] ?? ''
}

function namesOf(line: string): string[] {
  return wordsOf(line).slice(1)
}

function wordsOf(line: string): string[] {
  return (line.split('#', 1)[0] ?? '').split(/\s+/).filter((word) => word !== '')
}
