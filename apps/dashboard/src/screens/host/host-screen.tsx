import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { useTopic } from '../../live/use-topic.ts'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { me } from '../../session/session.ts'
import { hostTexts as texts } from '../../texts/host-texts.ts'
import { HostChecks } from './host-checks.tsx'
import { HostFigures } from './host-figures.tsx'
import { HostLists } from './host-lists.tsx'
import { Nodes } from './nodes.tsx'
import { Orphans } from './orphans.tsx'
import '../../styles/host.css'

type Topic = Topics['host']

function merge(value: Topic['snapshot'], { host = value.host, health = value.health }: Topic['patch']): Topic['snapshot'] {
  return { host, health }
}

export function HostScreen() {
  const isOperator = me.value?.role === 'operator'
  const { value, failure } = useTopic<'host'>(isOperator ? 'host' : undefined, merge)
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
      </div>
      {isOperator ? (
        <LoadedPart value={value} failure={failure}>
          {({ host, health }) => (
            <>
              <HostFigures host={host} />
              <HostChecks health={health} />
              <HostLists host={host} />
              <Nodes />
              <Orphans />
            </>
          )}
        </LoadedPart>
      ) : (
        <p class="notice">{texts.operatorsOnly}</p>
      )}
    </div>
  )
}
