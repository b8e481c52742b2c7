import type { Change } from './change-feed.ts'

/** One subscription, as a topic sees it. None of the methods throws. */
export interface TopicReader {
  snapshot(data: unknown): void
  patch(data: unknown): void
  /** Patches were dropped; the subscription has ended. */
  gap(): void
  /** The subscription has ended. */
  fail(err: unknown): void
}

/** A topic of a team that at least one page reads. None of the methods throws. */
export interface LiveTopic {
  /** Sends a snapshot soon, then patches. */
  join(reader: TopicReader): void
  leave(reader: TopicReader): void
  hear(change: Change): void
  /** Nothing is sent any more. */
  end(): void
}

/** `sandbox:<id>`: name and argument; `sandboxes?<query>`: name and query. */
export interface TopicAddress {
  readonly name: string
  readonly argument: string
  readonly query: string
}

export function parseTopic(text: string): TopicAddress {
  const at = text.search(/[?:]/)
  if (at === -1) return { name: text, argument: '', query: '' }
  const rest = text.slice(at + 1)
  return { name: text.slice(0, at), argument: text[at] === ':' ? rest : '', query: text[at] === '?' ? rest : '' }
}
