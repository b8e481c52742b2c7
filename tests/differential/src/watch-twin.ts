import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonValue } from '@bufbuild/protobuf'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { normalise } from './compare/normalise.ts'
import type { Step, WatchStep } from './scenario.ts'
import type { Twin } from './twins/twin.ts'
import { splitEnvelopes } from './wire/envelopes.ts'
import { toBytes } from './wire/exchange.ts'
import { parseAnswer } from './wire/parse-answer.ts'
import { jsonCall } from './wire/rpc.ts'

/** The events of each step, from the stream and from polling. */
export interface Watched {
  readonly accepted: JsonValue
  readonly stream: readonly JsonValue[]
  readonly polled: readonly JsonValue[]
}

/** A step has caused all its events if none arrives in this time. */
const QUIET_MS = 60

/** Watches a directory while the steps run, and then removes both watches. */
export async function watchTwin(twin: Twin, { steps, ...watch }: WatchStep): Promise<Watched> {
  const created = await call(twin, 'CreateWatcher', watch)
  const watcherId =
    typeof created === 'object' && created !== null && 'watcherId' in created ? JSON.stringify(created['watcherId']).slice(1, -1) : ''
  using stream = new OpenStream(twin, watch)
  const answer = await stream.first()
  const result = { accepted: normalise(created), stream: [normalise(answer)], polled: [] as JsonValue[] }
  for (const step of steps) {
    await happen(twin, step)
    const { streamed, polled } = await untilQuiet(twin, stream, watcherId)
    result.stream.push(normalise(sortRemovals(merge(streamed))))
    result.polled.push(normalise(sortRemovals(merge(polled))))
  }
  await call(twin, 'RemoveWatcher', { watcherId })
  return result
}

async function happen(twin: Twin, step: Step): Promise<void> {
  if (step.kind === 'act') await twin.act(step.action)
  else if (step.kind === 'request') await twin.send(step.request)
}

async function untilQuiet(twin: Twin, stream: OpenStream, watcherId: string): Promise<{ streamed: JsonValue[]; polled: JsonValue[] }> {
  const [streamed, polled]: [JsonValue[], JsonValue[]] = [[], []]
  for (let isQuiet = false; !isQuiet;) {
    await delay(QUIET_MS)
    const fresh = [stream.take(), eventsOf(await call(twin, 'GetWatcherEvents', { watcherId }))] as const
    streamed.push(...fresh[0])
    polled.push(...fresh[1])
    isQuiet = fresh.every((events) => events.length === 0) || !watcherId
  }
  return { streamed, polled }
}

async function call(twin: Twin, method: 'CreateWatcher' | 'GetWatcherEvents' | 'RemoveWatcher', message: object): Promise<JsonValue> {
  const { body } = await twin.send(jsonCall(method, message))
  return body.length === 0 ? null : (JSON.parse(body.toString()) as JsonValue)
}

function eventsOf(answer: JsonValue): JsonValue[] {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return []
  const events = answer['events'] ?? []
  return Array.isArray(events) ? events : [answer]
}

/** Sorts removals, because the order in which a directory's entries are removed is not defined. */
function sortRemovals(events: readonly JsonValue[]): JsonValue[] {
  const texts = events.map((event) => JSON.stringify(event))
  const isRemoval = texts.map((text) => text.includes('"EVENT_TYPE_REMOVE"'))
  if (isRemoval.filter(Boolean).length < 2) return [...events]
  const removals = texts.filter((_, index) => isRemoval[index]).sort()
  return texts.map((text, index) => JSON.parse(isRemoval[index] === true ? (removals.shift() ?? text) : text) as JsonValue)
}

/** Merges equal neighbours: the kernel merges equal events that are not read yet, so their number is random. */
function merge(events: readonly JsonValue[]): JsonValue[] {
  return events.filter((event, index) => index === 0 || withoutEntry(event) !== withoutEntry(events[index - 1]))
}

/** Omits the entry, because it depends on the moment when the event is read. */
function withoutEntry(event: JsonValue | undefined): string {
  return JSON.stringify(event, (key, value: unknown) => (key === 'entry' ? undefined : value))
}

/** A stream whose messages can be read while it is open. */
class OpenStream implements Disposable {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #taken = 0

  constructor(twin: Twin, watch: Omit<WatchStep, 'steps'>) {
    this.#socket = connect(twin.daemon.port, twin.daemon.host)
    this.#socket.on('data', (chunk) => (this.#received = Buffer.concat([this.#received, chunk])))
    this.#socket.on('error', () => {})
    this.#socket.write(toBytes(twin.daemon, jsonCall('WatchDir', watch)))
  }

  /** The first messages of the answer, or its end. */
  first(): Promise<JsonValue[]> {
    return pollUntil({ what: 'the stream', timeoutMs: 10_000, everyMs: 10 }, () => {
      const messages = this.take()
      return messages.length > 0 ? messages : undefined
    })
  }

  /** The messages since the last call. */
  take(): JsonValue[] {
    const { envelopes } = splitEnvelopes(parseAnswer(this.#received, true).body)
    const fresh = envelopes.slice(this.#taken).map(({ payload }) => JSON.parse(payload.toString()) as JsonValue)
    this.#taken = envelopes.length
    return fresh
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
