import { useEffect, useRef } from 'preact/hooks'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { paths } from '../../frame/paths.ts'
import { useTopic } from '../../live/use-topic.ts'
import { Ago } from '../../parts/ago.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { overviewTexts as texts } from '../../texts/overview-texts.ts'

type Events = Topics['events']['snapshot']

const MOST = 50
/** The figures follow the events, not each of them. */
const RELOAD_MS = 2000

function merge({ events }: Events, patch: Events): Events {
  const ids = new Set(events.map(({ id }) => id))
  return { events: [...events, ...patch.events.filter(({ id }) => !ids.has(id))].slice(-MOST) }
}

/** The newest events of the team, live. `reload` is called a moment after new ones. */
export function Events({ reload }: { readonly reload: () => void }) {
  const { value, failure } = useTopic<'events'>('events', merge)
  const newest = value?.events.at(-1)?.id
  const seenRef = useRef<string | undefined>(undefined)
  useEffect(() => {
    const isFirst = seenRef.current === undefined
    seenRef.current = newest ?? seenRef.current
    if (isFirst || newest === undefined) return undefined
    const timer = setTimeout(reload, RELOAD_MS)
    return () => clearTimeout(timer)
  }, [newest, reload])
  if (value === undefined) return failure === undefined ? <div class="skeleton" /> : <FailureNotice failure={failure} />
  if (value.events.length === 0) return <p class="empty">{texts.noEvents}</p>
  return (
    <ul class="lines">
      {value.events.toReversed().map(({ id, at, kind, subject, text, actor }) => (
        <li key={id}>
          <span class="grow">
            {text}
            {actor !== null && kind !== 'sandbox.killing' && <span class="muted"> {texts.by(actor.label)}</span>}
          </span>
          {kind.startsWith('sandbox') && (
            <a class="mono small truncate" href={paths.sandbox(subject)}>
              {subject}
            </a>
          )}
          {kind.startsWith('template') && kind !== 'template.deleted' && (
            <a class="mono small truncate" href={paths.template(subject)}>
              {subject}
            </a>
          )}
          <span class="muted small event-at">
            <Ago at={at} />
          </span>
        </li>
      ))}
    </ul>
  )
}
