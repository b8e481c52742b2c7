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

/** The fields of an event that are read, as the engine should send them. */
interface EngineEvent {
  readonly Action?: string
  readonly Actor?: { readonly Attributes?: Labels }
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

/**
 * The buffer ends when the connection ends for any reason, and at a line that cannot be read, which may have been any event: the reader
 * lists the sandboxes and subscribes again.
 */
function read(stream: NodeJS.ReadableStream, buffer: EventBuffer): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_CHARS) return buffer.abort()
    for (const line of lines) {
      if (line === '') continue
      const parsed = parseLine(line)
      if (parsed === undefined) return buffer.end()
      const event = toRuntimeEvent(parsed)
      if (event !== undefined) buffer.add(event)
    }
  })
  for (const ending of ['end', 'error', 'close']) stream.on(ending, () => buffer.end())
}

/** Undefined when the line is not an event of a container. */
function parseLine(line: string): { readonly action: string; readonly labels: Labels } | undefined {
  try {
    const { Action: action, Actor } = JSON.parse(line) as EngineEvent
    const labels = Actor?.Attributes
    return typeof action === 'string' && typeof labels === 'object' && labels !== null ? { action, labels } : undefined
  } catch {
    return undefined
  }
}

function toRuntimeEvent({ action, labels }: { readonly action: string; readonly labels: Labels }): RuntimeEvent | undefined {
  const ref = refOf(labels)
  const kind = KIND[action]
  return ref === undefined || kind === undefined ? undefined : { ...ref, kind }
}
