import type { Readable } from 'node:stream'
import { EventBuffer } from '@sandyard/runtime/event-buffer'
import type { RuntimeEvent } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { engineCall } from '../engine/docker-errors.ts'
import { LABEL, refOf, type Labels } from '../labels.ts'

const KIND: Readonly<Record<string, RuntimeEvent['kind']>> = {
  die: 'exited',
  oom: 'out_of_memory',
  pause: 'frozen',
  unpause: 'thawed',
}

/** One event contains the labels of its image, which users write. */
const MAX_LINE_CHARS = 1024 * 1024

interface EngineEvent {
  readonly Action: string
  readonly Actor: { readonly Attributes: Labels }
}

export interface EngineEventsOptions {
  readonly installation: string
  readonly signal: AbortSignal
  readonly maxUnread?: number | undefined
}

/**
 * The events of an installation's sandboxes from this call on. The engine answers before it has subscribed, so the request asks for
 * all events since the call. The connection is read at once and without pauses: the engine drops events of a slow reader.
 */
export async function engineEvents(
  docker: Docker,
  { installation, signal, maxUnread }: EngineEventsOptions,
): Promise<AsyncIterable<RuntimeEvent>> {
  const filters = {
    type: ['container'],
    event: Object.keys(KIND),
    label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=sandbox`],
  }
  const since = Date.now() / 1000
  const stream = await engineCall('The events of the engine could not be read.', () =>
    docker.getEvents({ filters: JSON.stringify(filters), since, abortSignal: signal }),
  )
  const buffer = new EventBuffer(() => (stream as Readable).destroy(), maxUnread)
  read(stream, buffer)
  signal.addEventListener('abort', () => buffer.abort(), { once: true })
  if (signal.aborted) buffer.abort()
  return buffer
}

/** The buffer ends when the connection ends for any reason: the reader must list the sandboxes again anyway. */
function read(stream: NodeJS.ReadableStream, buffer: EventBuffer): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_CHARS) return buffer.abort()
    for (const line of lines) {
      const event = line === '' ? undefined : toRuntimeEvent(JSON.parse(line) as EngineEvent)
      if (event !== undefined) buffer.add(event)
    }
  })
  for (const ending of ['end', 'error', 'close']) stream.on(ending, () => buffer.end())
}

function toRuntimeEvent({ Action, Actor }: EngineEvent): RuntimeEvent | undefined {
  const ref = refOf(Actor.Attributes)
  const kind = KIND[Action]
  return ref === undefined || kind === undefined ? undefined : { ...ref, kind }
}
