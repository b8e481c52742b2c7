import type { JsonValue } from '@bufbuild/protobuf'
import type { Pids } from '../wire/process-call.ts'
import { isJson } from './stream-reading.ts'

/** Replaces the pids of this script by a placeholder, and sorts lists of processes. */
export function withoutPids(value: JsonValue, pids: Pids): JsonValue {
  const known = new Set([...pids.values()].map(String))
  const hide = (text: string): string =>
    text.replaceAll(/(\bpid |\bprocess ')(\d+)\b/g, (whole, before: string, pid: string) => (known.has(pid) ? `${before}<pid>` : whole))
  function visit(part: JsonValue, key: string): JsonValue {
    if (typeof part === 'string') return hide(part)
    if (typeof part === 'number') return key === 'pid' && known.has(String(part)) ? '<pid>' : part
    if (Array.isArray(part)) {
      const items = part.map((item) => visit(item, ''))
      return key === 'processes' ? items.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)) : items
    }
    if (!isJson(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, visit(member, name)]))
  }
  return visit(value, '')
}

/** Not the whole entry, because the daemons return some fields in different forms. */
function sortKey(process: JsonValue): string {
  if (!isJson(process)) return ''
  const { config, tag } = process
  const { cmd, args } = isJson(config) ? config : {}
  return JSON.stringify([tag ?? null, cmd ?? '', args ?? []])
}
