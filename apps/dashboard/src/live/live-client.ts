import type { TopicName, TopicText } from '@sandyard/dashboard-contract/live/topics'
import { addTopic, type TopicHandlers } from './topic-registry.ts'

/** Terminals are in a file of their own, `terminal-links.ts`: the first screen has none. */
export { liveState } from './live-state.ts'
export type { TopicHandlers } from './topic-registry.ts'
export type { OpenTerminal } from './terminal-links.ts'

/** Subscribes until the returned function is called. Equal topics of one tab share a subscription. */
export function subscribe<Name extends TopicName>(topic: TopicText<Name>, handlers: TopicHandlers<Name>): () => void {
  return addTopic(topic, handlers)
}
