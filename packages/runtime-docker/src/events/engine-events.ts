import type Docker from 'dockerode'
import type { RuntimeEvent } from '@sandyard/runtime/types'
import { engineCall } from '../engine/docker-errors.ts'
import { LABEL, refOf, type Labels } from '../labels.ts'

const KIND: Readonly<Record<string, RuntimeEvent['kind']>> = {
  die: 'exited',
  oom: 'out_of_memory',
  pause: 'frozen',
  unpause: 'thawed',
}

interface EngineEvent {
  readonly Action: string
  readonly Actor: { readonly Attributes: Labels }
}

/**
 * The events of an installation's sandboxes from this call on. The engine answers before it has subscribed, so it is asked for
 * everything since the call. The stream is not read before it is iterated, so nothing is lost in between.
 */
export async function engineEvents(docker: Docker, installation: string, signal: AbortSignal): Promise<AsyncIterable<RuntimeEvent>> {
  const filters = {
    type: ['container'],
    event: Object.keys(KIND),
    label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=sandbox`],
  }
  const since = Date.now() / 1000
  const stream = await engineCall('The events of the engine could not be read.', () =>
    docker.getEvents({ filters: JSON.stringify(filters), since, abortSignal: signal }),
  )
  return read(stream)
}

/** Ends when the connection does, for whatever reason: who reads has to look at the engine again anyway. */
async function* read(stream: NodeJS.ReadableStream): AsyncIterable<RuntimeEvent> {
  let rest = ''
  stream.setEncoding('utf8')
  try {
    for await (const chunk of stream) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = line === '' ? undefined : toRuntimeEvent(JSON.parse(line) as EngineEvent)
        if (event !== undefined) yield event
      }
    }
  } catch {
    // The connection broke or the reader aborted.
  }
}

function toRuntimeEvent({ Action, Actor }: EngineEvent): RuntimeEvent | undefined {
  const ref = refOf(Actor.Attributes)
  const kind = KIND[Action]
  return ref === undefined || kind === undefined ? undefined : { ...ref, kind }
}
