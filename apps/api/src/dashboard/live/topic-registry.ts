import { AppError } from '@sandyard/kit/errors/app-error'
import { MAX_TOPIC_LENGTH } from '@sandyard/dashboard-contract/limits'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { runForOwner } from '@sandyard/kit/tracing/scope'
import type { ChangeFeed } from './change-feed.ts'
import { parseTopic, type LiveTopic, type TopicAddress, type TopicReader } from './live-topic.ts'
import type { ReadInTurn } from './shared-topic.ts'

/** Who subscribes. */
export interface Subscriber {
  readonly teamId: string
  readonly isOperator: boolean
}

interface TopicRequest extends Subscriber, Omit<TopicAddress, 'name'> {
  readonly inTurn: ReadInTurn
}

/** Makes a topic. @throws AppError for a malformed or forbidden one */
export type MakeTopic = (request: TopicRequest) => LiveTopic

interface OpenTopic {
  readonly topic: LiveTopic
  readers: number
}

/** Different topics that pages of one team, or of all, read at once. */
const [MAX_TEAM_TOPICS, MAX_TOPICS] = [512, 4096]
/** Reads of the database for topics: of one team, and of all. */
const WIDTH = { perOwner: 2, inAll: 8 } as const

/** The topics that are read now. The same topic of one team exists once, however many pages show it. */
export class TopicRegistry implements Disposable {
  readonly #makers: ReadonlyMap<string, MakeTopic>
  readonly #open = new Map<string, OpenTopic>()
  readonly #perTeam = new Map<string, number>()
  /** Each topic has at most one read in it. */
  readonly #reads = new FairQueue({ ...WIDTH, onFull: () => new AppError('unavailable', 'The server is busy: try again') })
  readonly #stopListening: () => void

  constructor(makers: Readonly<Record<string, MakeTopic>>, feed: ChangeFeed) {
    this.#makers = new Map(Object.entries(makers))
    this.#stopListening = feed.listen((change) => {
      for (const { topic } of this.#open.values()) topic.hear(change)
    })
  }

  /**
   * @returns what ends the subscription; it may be called again
   * @throws AppError `not_found` for a topic that does not exist, `resource_exhausted`, or that of the topic
   */
  subscribe(subscriber: Subscriber, text: string, reader: TopicReader): () => void {
    const key = `${subscriber.teamId}${subscriber.isOperator ? '+' : ' '}${text}`
    const open = this.#open.get(key) ?? this.#make(subscriber, text, key)
    open.readers += 1
    open.topic.join(reader)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      open.topic.leave(reader)
      open.readers -= 1
      if (open.readers === 0) this.#close(key, subscriber.teamId, open)
    }
  }

  #make(subscriber: Subscriber, text: string, key: string): OpenTopic {
    if (text.length > MAX_TOPIC_LENGTH) throw new AppError('invalid_argument', 'The topic is too long')
    const { name, ...address } = parseTopic(text)
    const make = this.#makers.get(name)
    if (make === undefined) throw new AppError('not_found', 'There is no such topic')
    const { teamId } = subscriber
    const ofTeam = this.#perTeam.get(teamId) ?? 0
    if (ofTeam >= MAX_TEAM_TOPICS || this.#open.size >= MAX_TOPICS) {
      throw new AppError('resource_exhausted', 'Too many live topics are open: close some tabs')
    }
    const topic = make({ ...subscriber, ...address, inTurn: (work) => this.#reads.run(teamId, () => runForOwner(teamId, work)) })
    const open: OpenTopic = { topic, readers: 0 }
    this.#open.set(key, open)
    this.#perTeam.set(teamId, ofTeam + 1)
    return open
  }

  #close(key: string, teamId: string, { topic }: OpenTopic): void {
    topic.end()
    this.#open.delete(key)
    const ofTeam = (this.#perTeam.get(teamId) ?? 1) - 1
    if (ofTeam === 0) this.#perTeam.delete(teamId)
    else this.#perTeam.set(teamId, ofTeam)
  }

  [Symbol.dispose](): void {
    this.#stopListening()
    for (const { topic } of this.#open.values()) topic.end()
    this.#open.clear()
  }
}
